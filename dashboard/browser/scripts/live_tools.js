// @ts-check
// What a visitor can move on the charts: axes, smoothing, and whose histograms at which step.

import { element, setText } from "./live_elements.js"

/** @import { Live } from "./live.js" */

/**
 * A row of buttons of which one is chosen.
 * @template T
 * @param {string} label
 * @param {[T, string][]} options
 * @param {T} chosen
 * @param {(value: T) => void} pick
 */
function choice(label, options, chosen, pick) {
  const box = element("span", { className: "lab-choice", role: "group", ariaLabel: label })
  const buttons = options.map(([value, text]) => {
    const button = element("button", { type: "button", textContent: text, className: "lab-option" })
    button.setAttribute("aria-pressed", String(value === chosen))
    button.onclick = () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button))
      pick(value)
    }
    return button
  })
  box.append(...buttons)
  return box
}

export class Tools {
  /** @param {Live} live */
  constructor(live) {
    this.live = live
    this.groupPicker = element("select")
    this.stepSlider = element("input")
    this.stepLabel = element("output")
  }

  ofLoss() {
    const { view } = this.live
    const slider = element("input", {
      type: "range",
      min: 0,
      max: 0.98,
      step: 0.02,
      value: view.smoothing,
      ariaLabel: "smoothing",
    })
    slider.oninput = () => this.live.set({ smoothing: Number(slider.value) }, ["loss"])
    return element(
      "span",
      { className: "lab-tools" },
      element("label", { className: "lab-tool" }, "smooth ", slider),
      element(
        "span",
        { className: "lab-tool" },
        "loss ",
        choice(
          "loss axis",
          [
            ["log", "log"],
            ["linear", "linear"],
          ],
          view.lossAxis,
          (lossAxis) => this.live.set({ lossAxis }, ["loss"]),
        ),
      ),
      element(
        "span",
        { className: "lab-tool" },
        "steps ",
        choice(
          "step axis",
          [
            ["linear", "linear"],
            ["log", "log"],
          ],
          view.stepAxis,
          (stepAxis) => this.live.set({ stepAxis }),
        ),
      ),
    )
  }

  /** The panels that show one group of layers, if one is chosen. */
  get grouped() {
    const figures = Object.entries(this.live.figures)
    return figures.filter(([, { data }]) => data.some(({ meta }) => meta?.grouped)).map(([name]) => name)
  }

  /**
   * What a panel asks for (dashboard/browser/panel.py).
   * @param {string} name
   */
  of(name) {
    if (name === "histograms") return this.ofRidges()
    return name === "layers" ? element("span", { className: "lab-tools" }, this.ofLayers()) : null
  }

  ofLayers() {
    this.groupPicker = element("select", { ariaLabel: "layers" })
    this.groupPicker.onchange = () => this.live.set({ group: this.groupPicker.value }, ["histograms", ...this.grouped])
    return element("label", { className: "lab-tool" }, "layers ", this.groupPicker)
  }

  ofRidges() {
    const { view } = this.live
    this.stepSlider = element("input", { type: "range", min: 0, max: 0, value: 0, ariaLabel: "step of the histograms" })
    this.stepLabel = element("output", { className: "lab-step" })
    this.stepSlider.oninput = () => {
      const steps = this.live.runs[0].history.histogramSteps
      const at = Number(this.stepSlider.value)
      const step = at === steps.length - 1 ? null : steps[at] // at the end it follows the race
      this.live.set({ step }, ["histograms"])
    }
    /** @type {[number, string][]} */
    const quantities = [
      [0, "g"],
      [1, "m"],
      [2, "v"],
    ]
    return element(
      "span",
      { className: "lab-tools" },
      element(
        "span",
        { className: "lab-tool" },
        "of ",
        choice("quantity", quantities, view.quantity, (quantity) => this.live.set({ quantity }, ["histograms"])),
      ),
      this.ofLayers(),
      element("label", { className: "lab-tool" }, "step ", this.stepSlider, this.stepLabel),
    )
  }

  draw() {
    const histories = this.live.runs.map(({ history }) => history)
    const { histogramSteps: steps, groups } = histories.find((history) => history.groups.length) ?? histories[0]
    const names = ["all", ...groups]
    if (this.groupPicker.length !== names.length || this.groupPicker.dataset.names !== names.join()) {
      this.groupPicker.replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })))
      this.groupPicker.dataset.names = names.join()
      if (groups.length && !names.includes(this.live.view.group)) this.live.view.group = "all"
      this.groupPicker.value = this.live.view.group
    }
    const chosen = this.live.view.step ?? Infinity
    const at = steps.findLastIndex((t) => t <= chosen)
    this.stepSlider.max = String(Math.max(0, steps.length - 1))
    this.stepSlider.value = String(Math.max(0, at))
    setText(this.stepLabel, at < 0 ? "–" : String(steps[at]))
  }
}
