// @ts-check
// A curve that a visitor draws on a chart: with a pointer over the chart, or point by point with the arrow keys.
//
// The chart itself does not move. Over it lies a sheet, as large as the room between its axes, with a point for each
// step; a point's height is one of 36 levels, which is what the curve's code has, a letter each.
import { tellChart } from "./chart_access.js"
import { fitted, isDark, loadPlotly, readData } from "./plot_parts.js"

/** @import { Component, DrawData, PlotBox } from "./types.d.ts" */

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
const TOP = LETTERS.length - 1
const WAIT = 350 // milliseconds after the last key: a rerun for each would be too many

/** @type {WeakMap<HTMLElement, Sheet>} */
const sheets = new WeakMap()

class Sheet {
  /**
   * @param {HTMLElement} root
   * @param {DrawData} data
   */
  constructor(root, data) {
    this.root = root
    this.data = data
    this.levels = [...data.start].map((letter) => LETTERS.indexOf(letter))
    /** @type {(code: string) => void} */
    this.tell = () => {}
    /** @type {number | undefined} */
    this.timer = undefined
    /** @type {number | null} */
    this.last = null // the point that the pointer was at
    this.told = ""
    this.box = /** @type {PlotBox} */ (root.querySelector(".lab-chart"))
    this.sheet = /** @type {HTMLElement} */ (root.querySelector(".lab-draw-sheet"))
    this.sheet.style.setProperty("--lab-drawn", data.color)
    this.sheet.innerHTML = "<svg viewBox='0 0 1 1' preserveAspectRatio='none' aria-hidden='true'></svg>"
    const svg = /** @type {SVGElement} */ (this.sheet.firstElementChild)
    this.line = document.createElementNS("http://www.w3.org/2000/svg", "polyline")
    this.line.setAttribute("vector-effect", "non-scaling-stroke")
    svg.append(this.line)
    this.points = data.steps.map((step, place) => this.point(step, place))
    this.sheet.append(...this.points)
    this.sheet.addEventListener("pointerdown", (event) => this.press(event))
    this.sheet.addEventListener("pointermove", (event) => this.move(event))
    for (const end of ["pointerup", "pointercancel"]) this.sheet.addEventListener(end, () => this.release())
    this.show()
  }

  /**
   * @param {number} step
   * @param {number} place
   */
  point(step, place) {
    const handle = document.createElement("div")
    handle.className = "lab-draw-point"
    handle.tabIndex = place ? -1 : 0 // one stop of the Tab key: the arrow keys go on
    handle.setAttribute("role", "slider")
    handle.setAttribute("aria-label", `loss at step ${step}`)
    handle.setAttribute("aria-orientation", "vertical")
    handle.setAttribute("aria-valuemin", "0")
    handle.setAttribute("aria-valuemax", String(TOP))
    handle.addEventListener("keydown", (event) => this.key(event, place))
    handle.addEventListener("blur", () => this.timer !== undefined && this.say())
    return handle
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} place
   */
  key(event, place) {
    const beside = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -TOP, End: TOP }[event.key]
    if (beside === undefined && by === undefined) return
    event.preventDefault()
    if (beside !== undefined) return this.go(place + beside)
    this.levels[place] = inside(this.levels[place] + (by ?? 0))
    this.show()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.say(), WAIT)
  }

  /** @param {number} place */
  go(place) {
    if (!this.points[place]) return
    this.points.forEach((point, i) => {
      point.tabIndex = i === place ? 0 : -1
    })
    this.points[place].focus()
  }

  /** @param {PointerEvent} event */
  press(event) {
    event.preventDefault()
    this.sheet.setPointerCapture(event.pointerId)
    this.last = null
    this.move(event, true)
  }

  /**
   * The nearest point comes to the pointer, and those that it passed in between lie on a line to it.
   * @param {PointerEvent} event
   * @param {boolean} [pressed]
   */
  move(event, pressed = false) {
    if (!pressed && this.last === null) return
    const room = this.sheet.getBoundingClientRect()
    const step = ((event.clientX - room.left) / room.width) * this.end
    const level = inside(Math.round((1 - (event.clientY - room.top) / room.height) * TOP))
    const distances = this.data.steps.map((own) => Math.abs(own - step))
    const place = distances.indexOf(Math.min(...distances))
    const from = this.last ?? place
    const start = this.levels[from]
    const count = Math.abs(place - from)
    for (let k = 1; k < count; k++) {
      this.levels[from + Math.sign(place - from) * k] = Math.round(start + ((level - start) * k) / count)
    }
    this.levels[place] = level
    this.last = place
    this.show()
  }

  release() {
    if (this.last === null) return
    this.last = null
    this.say()
  }

  get end() {
    return this.data.steps[this.data.steps.length - 1]
  }

  say() {
    clearTimeout(this.timer)
    this.timer = undefined
    const code = this.levels.map((level) => LETTERS[level]).join("")
    if (code !== this.told) this.tell((this.told = code))
  }

  show() {
    const places = this.levels.map((level, i) => [this.data.steps[i] / this.end, 1 - level / TOP])
    this.line.setAttribute("points", places.map((place) => place.join(",")).join(" "))
    const [low, high] = this.data.axis
    for (const [i, handle] of this.points.entries()) {
      handle.style.left = `${100 * places[i][0]}%`
      handle.style.top = `${100 * places[i][1]}%`
      handle.setAttribute("aria-valuenow", String(this.levels[i]))
      handle.setAttribute("aria-valuetext", (10 ** (low + ((high - low) * this.levels[i]) / TOP)).toPrecision(2))
    }
    this.sheet.dataset.code = this.levels.map((level) => LETTERS[level]).join("")
  }

  /** Over the room between the axes, wherever Plotly has put it. */
  place() {
    const { xaxis, yaxis } = this.box._fullLayout
    Object.assign(this.sheet.style, {
      left: `${xaxis._offset}px`,
      width: `${xaxis._length}px`,
      top: `${yaxis._offset}px`,
      height: `${yaxis._length}px`,
    })
  }

  /** @param {"light" | "dark"} theme */
  async draw(theme) {
    const { figure, templates, plotlyUrl, height } = this.data
    const Plotly = await loadPlotly(plotlyUrl)
    const narrow = this.root.offsetWidth < 520 ? { font: { size: 12 } } : {}
    const layout = { ...figure.layout, template: templates[theme], height: fitted(height), autosize: true, ...narrow }
    await Plotly.react(this.box, figure.data, layout, { staticPlot: true, responsive: true })
    if (this.box.dataset.drawn === undefined) this.box.on("plotly_afterplot", () => this.place())
    this.box.dataset.drawn = String(Number(this.box.dataset.drawn ?? 0) + 1)
    tellChart(this.box, this.data.alt)
    this.place()
  }
}

/** @param {number} level */
const inside = (level) => Math.min(Math.max(level, 0), TOP)

/** @param {Component} component */
export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".lab-draw"))
  const theme = isDark(parentElement) ? "dark" : "light"
  let sheet = sheets.get(root)
  if (!sheet) {
    sheet = new Sheet(root, readData(bytes))
    sheets.set(root, sheet)
    sheet.box.setAttribute("aria-label", sheet.data.alt)
    sheet.box.style.minHeight = `${fitted(sheet.data.height)}px`
  }
  sheet.tell = (code) => setTriggerValue("drawn", code)
  if (root.dataset.theme === theme) return
  root.dataset.theme = theme
  const { box } = sheet
  sheet.draw(theme).catch((error) => {
    sheets.delete(root)
    delete root.dataset.theme
    box.textContent = `The chart could not be drawn: ${error.message}. Reload the page to try again.`
  })
}
