// @ts-check
// What a chart shows, in numbers: for those who cannot see it, from the same values that are drawn.
import { shortNumber } from "./live_elements.js"

/** @import { DrawnAxis, DrawnLayout, DrawnTrace } from "./types.d.ts" */

const MOST_CURVES = 12
const MOST_BARS = 16
const MOST_NOTES = 6

/**
 * Text without its tags; an index keeps its place.
 * @param {unknown} text
 */
export const plainWords = (text) =>
  String(text ?? "")
    .replace(/<sub>(.*?)<\/sub>/g, "_$1")
    .replace(/<sup>(.*?)<\/sup>/g, "^$1")
    .replace(/<br\s*\/?>/g, ", ")
    .replace(/<[^>]*>/g, "")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&")

/**
 * @param {DrawnTrace[]} data as Plotly has drawn it
 * @param {DrawnLayout} layout
 * @returns {string}
 */
export function numbersOf(data, layout) {
  const shown = data.filter((trace) => trace.visible === true && trace.name && !isShade(trace))
  const bars = shown.filter(({ type }) => type === "bar").map(ofBars)
  const maps = shown.filter(({ type }) => type === "heatmap").map((trace) => ofMap(trace, layout))
  const curves = shown.filter(({ type, mode }) => type === "scatter" && mode?.includes("lines"))
  const points = shown.filter(({ type, mode }) => type === "scatter" && mode && !mode.includes("lines")).map(ofPoints)
  const axes = [...new Set(curves.map(({ yaxis }) => yaxis ?? "y"))]
  const lines = axes.map((name) =>
    ofCurves(
      curves.filter(({ yaxis }) => (yaxis ?? "y") === name),
      layout,
    ),
  )
  const marked = (layout.annotations ?? []).map(({ text }) => plainWords(text).trim()).filter(Boolean)
  const notes = marked.length ? [`Written in it: ${marked.slice(0, MOST_NOTES).join("; ")}`] : []
  const told = [...lines, ...bars, ...maps, ...points].filter(Boolean)
  return [...(told.length ? told : ["Nothing is drawn yet"]), ...notes].map((sentence) => `${sentence}.`).join(" ")
}

/**
 * A range around a curve, or a piece of one that is drawn twice.
 * @param {DrawnTrace} trace
 */
const isShade = ({ fill, hoverinfo, showlegend, meta }) =>
  (fill === "toself" && hoverinfo === "skip") || (hoverinfo === "skip" && showlegend === false) || Boolean(meta?.again)

/**
 * The curves of one panel, each from its first value to its last.
 * @param {DrawnTrace[]} curves
 * @param {DrawnLayout} layout
 */
function ofCurves(curves, layout) {
  const [{ xaxis = "x", yaxis = "y" }] = curves
  const across = axisOf(layout, xaxis)
  const whole = curves.flatMap((curve) => {
    const { x = [], y = [] } = curve
    const known = [...y.keys()].filter((i) => Number.isFinite(y[i]))
    if (!known.length) return []
    const [first, last] = [known[0], known[known.length - 1]]
    return [{ name: plainWords(curve.name), from: y[first], to: y[last], x0: written(x[first]), x1: written(x[last]) }]
  })
  if (!whole.length) return ""
  const up = titleOf(axisOf(layout, yaxis)) || "value"
  const along = titleOf(across) || lowest(layout) || (across.type === "category" ? "" : "x")
  const spans = whole.map(({ x0, x1 }) => (x0 === x1 ? `at ${x0}` : `from ${x0} to ${x1}`))
  const usual = spans.reduce((best, one) => (countOf(spans, one) > countOf(spans, best) ? one : best))
  const each = whole.map((one, i) => {
    const values = [...new Set([shortNumber(one.from), shortNumber(one.to)])].join(" to ")
    return spans[i] === usual ? `${one.name} ${values}` : `${one.name} ${values} (${spans[i]})`
  })
  const told = [...new Set(each)] // what was planned and what was measured may be the same
  const more = told.length > MOST_CURVES ? [`and ${told.length - MOST_CURVES} more`] : []
  return `${up}, ${`${along} ${usual}`.trim()}: ${[...told.slice(0, MOST_CURVES), ...more].join(", ")}`
}

/**
 * @param {DrawnLayout} layout
 * @param {string} name "x2" for xaxis2
 * @returns {DrawnAxis}
 */
const axisOf = (layout, name) => layout[`${name[0]}axis${name.slice(1)}`] ?? {}

/**
 * An axis without a title has a text of Plotly's that asks for one.
 * @param {DrawnAxis} axis
 */
const titleOf = ({ title }) => (/^Click to enter/.test(title?.text ?? "") ? "" : plainWords(title?.text))

/**
 * Where panels stand above each other only the lowest has its axis named.
 * @param {DrawnLayout} layout
 */
const lowest = (layout) =>
  Object.keys(layout)
    .filter((name) => /^xaxis\d*$/.test(name))
    .map((name) => titleOf(layout[name] ?? {}))
    .find(Boolean)

/**
 * @param {string[]} all
 * @param {string} one
 */
const countOf = (all, one) => all.filter((other) => other === one).length

/** @param {DrawnTrace} trace */
function ofBars({ name, x = [], y = [], orientation }) {
  const [labels, values] = orientation === "h" ? [y, x] : [x, y]
  const told = [...values].slice(0, MOST_BARS).map((value, i) => `${plainWords(labels[i])} ${written(value)}`)
  return `${plainWords(name)}: ${told.join(", ")}`
}

/** @param {DrawnTrace} trace */
function ofPoints({ name, x = [], y = [] }) {
  const known = [...y.keys()].filter((i) => y[i] !== null && x[i] !== null)
  if (!known.length) return ""
  if (known.length <= 4)
    return `${plainWords(name)}: ${known.map((i) => `${written(x[i])}, ${written(y[i])}`).join("; ")}`
  const range = (/** @type {ArrayLike<any>} */ values) => {
    const numbers = known.map((i) => Number(values[i])).filter(Number.isFinite)
    return numbers.length ? `${shortNumber(Math.min(...numbers))} to ${shortNumber(Math.max(...numbers))}` : "several"
  }
  return `${plainWords(name)}: ${known.length} points, across ${range(x)}, up ${range(y)}`
}

/**
 * @param {DrawnTrace} trace
 * @param {DrawnLayout} layout
 */
function ofMap({ name, xaxis = "x", yaxis = "y", z = [], text = [], ...trace }, layout) {
  const [x, y] = [trace.x ?? axisOf(layout, xaxis).ticktext ?? [], trace.y ?? axisOf(layout, yaxis).ticktext ?? []]
  const cells = [...z].flatMap((row, r) =>
    [...(row ?? [])].flatMap((value, c) =>
      Number.isFinite(value)
        ? [{ value, told: `${plainWords(text[r]?.[c]) || shortNumber(value)} at ${written(x[c])}, ${written(y[r])}` }]
        : [],
    ),
  )
  const size = [...z].reduce((sum, row) => sum + (row?.length ?? 0), 0)
  if (!cells.length) return `${plainWords(name)}: none of ${size} cells has begun`
  cells.sort((one, other) => one.value - other.value)
  const ends = [...new Set([cells[0].told, cells[cells.length - 1].told])]
  return `${plainWords(name)}: ${cells.length} of ${size} cells, ${ends.map((one, i) => `${i ? "highest" : "lowest"} ${one}`).join(", ")}`
}

/** @param {unknown} value */
function written(value) {
  if (typeof value !== "number") return plainWords(value)
  return Number.isInteger(value) && Math.abs(value) < 1e7 ? value.toLocaleString("en") : shortNumber(value)
}
