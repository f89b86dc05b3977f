// @ts-check
// A chart by keyboard and for a screen reader: a figure with a name, its picture told in numbers, and one tab stop, in
// which the arrow keys go through its toolbar and the curves of its legend.
import { numbersOf, plainWords } from "./chart_words.js"
import { element } from "./live_elements.js"

/** @import { DrawnBox, PlotlyLibrary } from "./types.d.ts" */

const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }

/**
 * Called whenever the chart has been drawn; touches only what differs.
 * @param {HTMLElement} box
 * @param {string} name what the chart is
 * @param {{ words?: string, Plotly?: PlotlyLibrary }} [more] other words than its numbers; with Plotly its curves can
 *   be hidden here, as by a click in the legend
 */
export function tellChart(box, name, { words, Plotly } = {}) {
  const { _fullData: data, _fullLayout: layout } = /** @type {DrawnBox} */ (box)
  if (!data || !layout) return
  set(box, "role", "figure")
  set(box, "aria-label", name)
  const [picture, ...others] = box.querySelectorAll(".main-svg")
  if (picture) {
    set(picture, "role", "img")
    set(picture, "aria-label", `${name}. ${words ?? numbersOf(data, layout)}`)
  }
  for (const other of others) set(other, "aria-hidden", "true")
  const toolbar = box.querySelector(".modebar")
  if (!toolbar) return
  set(toolbar, "aria-label", `Tools of the chart: ${name}`)
  if (Plotly) offerCurves(Plotly, box, name)
  keepOneStop(box)
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
function set(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value)
}

/** @type {WeakMap<HTMLElement, HTMLElement>} by chart: a button for each curve of its legend, seen while it has the focus */
const curves = new WeakMap()

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} box
 * @param {string} name
 */
function offerCurves(Plotly, box, name) {
  const { _fullData: data = [], _fullLayout: layout } = /** @type {DrawnBox} */ (box)
  const groups = new Map()
  for (const [place, trace] of data.entries()) {
    const listed = layout?.showlegend && trace.showlegend !== false && trace.name
    const group = trace.legendgroup || (listed ? `${place}` : "")
    if (!group) continue
    const known = groups.get(group) ?? { label: "", places: [], shown: false }
    known.places.push(place)
    if (listed) Object.assign(known, { label: plainWords(trace.name), shown: trace.visible === true })
    groups.set(group, known)
  }
  const offered = [...groups.values()].filter(({ label }) => label)
  const row = curves.get(box) ?? element("div", { className: "lab-curves", role: "toolbar" })
  set(row, "aria-label", `Curves of the chart: ${name}`)
  if (!curves.has(box)) curves.set(box, row)
  if (row.previousElementSibling !== box) box.after(row)
  while (row.children.length > offered.length) row.lastElementChild?.remove()
  while (row.children.length < offered.length)
    row.append(element("button", { type: "button", className: "lab-option", tabIndex: -1 }))
  offered.forEach(({ label, places, shown }, i) => {
    const button = /** @type {HTMLButtonElement} */ (row.children[i])
    if (button.textContent !== label) button.textContent = label
    set(button, "aria-label", `Curve ${label}`) // another control may be called as the curve is
    set(button, "aria-pressed", String(shown))
    button.onclick = async () => {
      await Plotly.restyle(box, { visible: shown ? "legendonly" : true }, places)
      tellChart(box, name, { Plotly })
    }
  })
}

/** @type {WeakSet<Node>} */
const listened = new WeakSet()

/**
 * Of all that a chart offers one button is in the order of the Tab key.
 * @param {HTMLElement} box
 */
function keepOneStop(box) {
  const row = curves.get(box)
  const buttons = () =>
    /** @type {HTMLElement[]} */ ([...box.querySelectorAll(".modebar-btn"), ...(row?.querySelectorAll("button") ?? [])])
  const all = buttons()
  const stop = all.find((one) => one === document.activeElement) ?? all.find((one) => one.dataset.stop) ?? all[0]
  for (const one of all) makeStop(one, one === stop)
  for (const place of [box, row]) {
    if (!place || listened.has(place)) continue
    listened.add(place)
    place.addEventListener("keydown", (event) => {
      const by = STEPS[/** @type {keyof STEPS} */ (event.key)]
      const now = buttons()
      const at = now.indexOf(/** @type {HTMLElement} */ (event.target))
      if (by === undefined || at < 0) return
      event.preventDefault()
      const next = Number.isFinite(by) ? (at + by + now.length) % now.length : by < 0 ? 0 : now.length - 1
      now.forEach((one, i) => makeStop(one, i === next))
      now[next].focus()
    })
  }
}

/**
 * @param {HTMLElement} button
 * @param {boolean} stop
 */
function makeStop(button, stop) {
  const place = stop ? 0 : -1
  if (button.getAttribute("tabindex") !== String(place)) button.tabIndex = place
  if (stop) button.dataset.stop = "yes"
  else delete button.dataset.stop
}
