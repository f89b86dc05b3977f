// @ts-check
// Export figure: what a chart, or up to four of them, will look like on a slide, and the button that saves it.
import { figureFile, figureForms, fileName, svgOf } from "./figure_files.js"
import { canMove, moving } from "./figure_moving.js"
import { PANEL_STYLE } from "./figure_panel_style.js"
import { shownCharts, sourceOf } from "./figure_source.js"
import { element } from "./live_elements.js"

/** @import { FigureForms, FigureOptions, FigureSource, Theme } from "./types.d.ts" */

const KEPT = "radam-lab-export" // in the tab's storage: the next figure begins as the last one was
const WAIT_MS = 150 // after the last change, before the picture is drawn again
const MOVING = ["gif", "apng", "mp4"]

/** @type {FigureOptions} */
const USUAL = {
  ...{ format: "png", size: "16:9", theme: "light", transparent: false, scale: 1, pixels: 2, legend: true },
  ...{ titled: true, title: "", caption: true, step: null, frames: 48, seconds: 6 },
}

class FigurePanel {
  /**
   * @param {Element} box
   * @param {FigureForms} forms
   */
  constructor(box, forms) {
    this.box = box
    this.forms = forms
    const source = /** @type {FigureSource} */ (sourceOf(box))
    /** @type {FigureOptions} */
    const kept = { ...USUAL, theme: source.theme, ...JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") }
    const format = MOVING.includes(kept.format) && !canMove(box) ? "png" : kept.format
    /** @type {FigureOptions} */
    this.options = { ...kept, format, title: source.title, step: null }
    /** @type {Set<Element>} */
    this.beside = new Set()
    this.preview = element("div", { className: "lab-figure-preview" })
    this.problem = element("p", { className: "lab-figure-problem", role: "status" })
    this.save = element("button", { type: "button", className: "lab-figure-save", textContent: "Save" })
    this.save.onclick = () => this.download()
    const close = element("button", { type: "button", className: "lab-figure-close", textContent: "Close" })
    close.onclick = () => this.dialog.close()
    this.name = element("output", { className: "lab-figure-name" })
    this.controls = element("div", { className: "lab-figure-controls" }, ...this.fields(source))
    this.relevant()
    const below = element("div", { className: "lab-figure-below" }, this.name, close, this.save)
    const right = element("div", { className: "lab-figure-right" }, this.preview, this.problem, below)
    this.dialog = element(
      "dialog",
      { className: "lab-figure", ariaLabel: "Export figure" },
      element("h2", { textContent: "Export figure" }),
      element("div", { className: "lab-figure-parts" }, this.controls, right),
    )
    this.dialog.onclose = () => this.dialog.remove()
    this.number = 0 // of the latest picture that was asked for
    /** @type {number | undefined} */
    this.timer = undefined
  }

  get boxes() {
    return shownCharts().filter((box) => box === this.box || this.beside.has(box))
  }

  /** @param {FigureSource} source */
  fields(source) {
    const { forms } = this
    const others = shownCharts().filter((box) => box !== this.box)
    const formats = Object.entries(forms.formats).filter(([name]) => !MOVING.includes(name) || canMove(this.box))
    const last = source.last?.() ?? 0
    const { least, most } = forms.scales
    return [
      this.select(
        "Form",
        "format",
        formats.map(([name, { told }]) => [name, told]),
      ),
      this.select(
        "Size",
        "size",
        Object.entries(forms.sizes).map(([name, { told }]) => [name, told]),
      ),
      this.select("Theme", "theme", [
        ["light", "Light"],
        ["dark", "Dark"],
      ]),
      this.select(
        "Pixels",
        "pixels",
        forms.pixels.map((times) => [String(times), `${times}x`]),
      ),
      this.range("Letters", "scale", { min: least, max: most, step: 0.05 }, (value) => `${Math.round(100 * value)}%`),
      this.check("Transparent", "transparent"),
      this.check("Legend", "legend"),
      this.check("Title", "titled"),
      this.text("Title", "title"),
      this.check("Caption: settings, code and link", "caption"),
      ...(source.at && last > 1
        ? [
            this.range(
              "At step",
              "step",
              { min: 1, max: last, step: 1 },
              (v) => (v >= last ? "the latest" : String(v)),
              last,
            ),
          ]
        : []),
      ...(canMove(this.box)
        ? [
            this.range("Pictures", "frames", { min: forms.frames.least, max: forms.frames.most, step: 1 }, String),
            this.range("Seconds", "seconds", { min: forms.seconds.least, max: forms.seconds.most, step: 1 }, String),
          ]
        : []),
      ...(others.length ? [this.besides(others)] : []),
    ]
  }

  /** A setting that this form does not have is out of the way. */
  relevant() {
    const { format } = this.options
    const wanted = { pixels: format === "png", frames: MOVING.includes(format), seconds: MOVING.includes(format) }
    for (const [name, shown] of Object.entries(wanted)) {
      const label = this.controls.querySelector(`[name=${name}]`)?.closest("label")
      if (label) label.hidden = !shown
    }
  }

  /**
   * @param {string} label
   * @param {"format" | "size" | "theme" | "pixels"} name
   * @param {string[][]} choices
   */
  select(label, name, choices) {
    const made = choices.map(([value, textContent]) => element("option", { value, textContent }))
    const select = element("select", { name }, ...made)
    select.value = String(this.options[name])
    select.onchange = () => this.set({ [name]: name === "pixels" ? Number(select.value) : select.value })
    return element("label", {}, `${label} `, select)
  }

  /**
   * @param {string} label
   * @param {"scale" | "step" | "frames" | "seconds"} name
   * @param {{ min: number, max: number, step: number }} limits
   * @param {(value: number) => string} told
   * @param {number} [latest] stands for none
   */
  range(label, name, limits, told, latest) {
    const value = this.options[name] ?? latest ?? limits.max
    const input = element("input", { type: "range", name, ...limits, value, ariaLabel: label })
    const output = element("output", { textContent: told(value) })
    input.oninput = () => {
      output.textContent = told(Number(input.value))
      this.set({ [name]: latest !== undefined && Number(input.value) >= latest ? null : Number(input.value) })
    }
    return element("label", {}, `${label} `, input, output)
  }

  /**
   * @param {string} label
   * @param {"transparent" | "legend" | "titled" | "caption"} name
   */
  check(label, name) {
    const input = element("input", { type: "checkbox", name, checked: this.options[name] })
    input.onchange = () => this.set({ [name]: input.checked })
    return element("label", {}, input, ` ${label}`)
  }

  /**
   * @param {string} label
   * @param {"title"} name
   */
  text(label, name) {
    const input = element("input", { type: "text", name, value: this.options[name], maxLength: 200, ariaLabel: label })
    input.oninput = () => this.set({ [name]: input.value })
    return element("label", { className: "lab-figure-wide" }, input)
  }

  /** @param {Element[]} others */
  besides(others) {
    const most = this.forms.charts
    const checks = others.map((box) => {
      const input = element("input", { type: "checkbox" })
      input.onchange = () => {
        if (input.checked) this.beside.add(box)
        else this.beside.delete(box)
        for (const other of checks) other.input.disabled = !other.input.checked && this.beside.size >= most - 1
        this.set({})
      }
      const title = sourceOf(box)?.title.replace(/<[^>]*>/g, "") ?? ""
      return { input, label: element("label", { title }, input, ` ${title}`) }
    })
    const legend = element("legend", { textContent: `Side by side, up to ${most} charts` })
    return element("fieldset", {}, legend, ...checks.map(({ label }) => label))
  }

  /** @param {Partial<FigureOptions>} change */
  set(change) {
    Object.assign(this.options, change)
    this.relevant()
    const { title, step, ...kept } = this.options
    sessionStorage.setItem(KEPT, JSON.stringify(kept))
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.draw(), WAIT_MS)
  }

  open() {
    const look = getComputedStyle(this.box)
    for (const name of [
      "--st-background-color",
      "--st-secondary-background-color",
      "--st-text-color",
      "--st-primary-color",
    ])
      this.dialog.style.setProperty(name, look.getPropertyValue(name))
    document.head.append(element("style", { id: "lab-figure-style", textContent: PANEL_STYLE }))
    document.body.append(this.dialog)
    this.dialog.showModal()
    this.draw()
  }

  async draw() {
    const number = ++this.number
    this.name.textContent = fileName(this.boxes, this.options)
    try {
      const shown = await this.picture()
      if (number !== this.number) return
      this.preview.replaceChildren(shown)
      this.preview.dataset.theme = this.options.theme
      this.preview.dataset.drawn = String(number)
      this.problem.textContent = ""
    } catch (error) {
      if (number === this.number) this.tell(error)
    }
  }

  async picture() {
    if (this.options.format === "csv") {
      const text = await (await figureFile(this.boxes, this.options)).text()
      const lines = text.split("\r\n")
      return element("pre", { textContent: [...lines.slice(0, 16), `${lines.length - 2} rows`].join("\n") })
    }
    const svg = await svgOf(this.boxes, this.options)
    const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
    return element("img", { src, alt: `Preview: ${this.options.title.replace(/<[^>]*>/g, "")}` })
  }

  async download() {
    this.save.disabled = true
    const name = fileName(this.boxes, this.options)
    try {
      const told = (/** @type {number} */ done, /** @type {number} */ of) => {
        this.problem.textContent = `Picture ${done} of ${of}`
      }
      const moves = MOVING.includes(this.options.format)
      const made = moves ? await moving(this.boxes, this.options, told) : await figureFile(this.boxes, this.options)
      const link = element("a", { href: URL.createObjectURL(made), download: name })
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
      this.problem.textContent = `Saved: ${Math.max(1, Math.round(made.size / 1000)).toLocaleString("en")} kB`
    } catch (error) {
      this.tell(error)
    } finally {
      this.save.disabled = false
    }
  }

  /** @param {unknown} error */
  tell(error) {
    this.problem.textContent = `This figure cannot be made: ${/** @type {Error} */ (error).message}.`
  }
}

/** @param {Element} box */
export async function openPanel(box) {
  if (document.querySelector("dialog.lab-figure")) return
  new FigurePanel(box, await figureForms()).open()
}
