// @ts-check
// The controls above the maps of a sweep: what is coloured, whose rows, at which step, and what a click does.
import { element, setText } from "./live_elements.js"

/** @import { SweepPage } from "./sweep.js" */

const FRAME_MS = 80
const GROUPS = { quantity: "what the maps show", rows: "rows of the maps" }

export class SweepTools {
  /** @param {SweepPage} page */
  constructor(page) {
    this.page = page
    this.box = element("div", { className: "lab-tools" })
    /** @type {{ draw: () => void }[]} */
    this.parts = []
    /** @type {number | undefined} */
    this.playing = undefined
  }

  build() {
    const { sweep } = this.page
    this.stopPlaying()
    const colours = [
      { label: "Loss", value: "loss" },
      ...(sweep?.metric ? [{ label: capital(sweep.metric), value: "metric" }] : []),
      { label: "Share that learned", value: "learned" },
    ]
    const rows = [
      { label: "Mean over seeds", value: "mean" },
      { label: "Every seed", value: "seeds" },
    ]
    this.parts = [
      this.choice("quantity", colours),
      ...(sweep?.maps.seeds ? [this.choice("rows", rows)] : []),
      this.steps(),
      this.clicks(),
    ]
    this.box.replaceChildren(
      ...this.parts.map((part) => /** @type {{ box: Element }} */ (/** @type {unknown} */ (part)).box),
    )
    this.draw()
  }

  draw() {
    for (const part of this.parts) part.draw()
  }

  /**
   * @param {"quantity" | "rows"} name
   * @param {{ label: string, value: string }[]} options
   */
  choice(name, options) {
    const { page } = this
    const buttons = options.map(({ label, value }) =>
      element("button", {
        type: "button",
        className: "lab-option",
        textContent: label,
        onclick: () => page.set({ [name]: value }),
      }),
    )
    if (!options.some(({ value }) => value === page.view[name])) page.view.quantity = "loss"
    return {
      box: element("span", { className: "lab-choice", role: "group", ariaLabel: GROUPS[name] }, ...buttons),
      draw: () =>
        buttons.forEach((button, i) => {
          button.setAttribute("aria-pressed", String(page.view[name] === options[i].value))
        }),
    }
  }

  steps() {
    const { page } = this
    const play = element("button", { type: "button", className: "lab-button", textContent: "Play" })
    const slider = element("input", { type: "range", min: "0", ariaLabel: "step of the maps" })
    const label = element("span", { className: "lab-at" })
    slider.oninput = () => {
      this.stopPlaying()
      const last = Number(slider.max)
      page.set({ point: Number(slider.value) >= last ? null : Number(slider.value) })
    }
    play.onclick = () => (this.playing === undefined ? this.play() : this.stopPlaying())
    return {
      box: element("span", { className: "lab-steps" }, play, slider, label),
      draw: () => {
        const { latest } = page.cells
        slider.max = String(latest)
        slider.value = String(Math.min(page.view.point ?? latest, latest))
        const step = page.sweep?.grid[page.view.point ?? latest] ?? 0
        setText(label, page.view.point === null ? "each lane at its latest step" : `step ${step}`)
        setText(play, this.playing === undefined ? "Play" : "Stop")
        play.disabled = slider.disabled = latest < 1
      },
    }
  }

  play() {
    const { page } = this
    let point = 0
    const next = () => {
      const done = point >= page.cells.latest
      page.set({ point: done ? null : point++ })
      this.playing = done ? undefined : setTimeout(next, FRAME_MS + 2 * page.drawingTook)
    }
    next()
  }

  stopPlaying() {
    clearTimeout(this.playing)
    this.playing = undefined
    this.page.changed()
  }

  clicks() {
    const { page } = this
    const collect = element("button", { type: "button", className: "lab-option", textContent: "Select several cells" })
    const open = element("button", { type: "button", className: "lab-button" })
    collect.onclick = () => {
      if (page.view.collect) page.chosen.clear()
      page.set({ collect: !page.view.collect })
    }
    open.onclick = () => page.open([...page.chosen])
    return {
      box: element("span", { className: "lab-clicks" }, collect, open),
      draw: () => {
        collect.setAttribute("aria-pressed", String(page.view.collect))
        collect.title = page.view.collect
          ? "A click adds a cell, or takes it back"
          : "A click opens a cell's lanes as a race"
        open.hidden = !page.view.collect
        open.disabled = !page.chosen.size
        setText(open, `Open ${page.chosen.size} ${page.chosen.size === 1 ? "lane" : "lanes"} as a race`)
      },
    }
  }

  close() {
    clearTimeout(this.playing)
  }
}

/** @param {string} text */
function capital(text) {
  return text[0].toUpperCase() + text.slice(1)
}
