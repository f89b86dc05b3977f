// @ts-check
// Axes with large letters: numbers that do not touch, and rows of panels with room for what stands between them.
import { valuesOf } from "./figure_values.js"

/** @import { Axis, Layout, Trace } from "./types.d.ts" */

/**
 * What is left for the axes of a figure's width, or of its height, beside their own numbers and titles.
 * @param {number} room
 * @param {number} letters
 * @param {boolean} across
 */
export const usable = (room, letters, across) => Math.max(0.3 * room, room - (across ? 6 : 4.5) * letters)

const FEW_DECADES = 1.6 // with fewer, the powers of ten alone would be one number, or none

/**
 * What to number on a logarithmic axis whose numbers were left to Plotly, or are the powers of ten.
 * @param {Axis} axis
 * @param {string} key
 * @param {Trace[]} traces
 * @param {number} room that the whole figure has in this direction
 * @param {number} letters
 * @returns {Axis}
 */
export function logTicks(axis, key, traces, room, letters) {
  if (axis.type !== "log" || axis.tickvals) return {}
  const letter = key[0]
  const name = key.replace("axis", "")
  const own = traces.filter((trace) => (trace[`${letter}axis`] ?? letter) === name && trace.visible !== false)
  const values = own.flatMap((trace) =>
    valuesOf(trace[letter])
      .map(Number)
      .filter((value) => value > 0 && Number.isFinite(value)),
  )
  if (!axis.range && !values.length) return {}
  const [low, high] = axis.range ?? extremes(values).map(Math.log10)
  const [from, to] = axis.domain ?? [0, 1]
  const span = Math.max(high - low, 1e-9)
  const points = usable(room, letters, letter === "x") * (to - from) // of the axis
  const least = ((letter === "x" ? 3 : 2.1) * letters * span) / points // between two numbers, in decades
  if (span >= FEW_DECADES) {
    const every = Math.max(1, Math.ceil(least))
    return {
      dtick: every,
      tick0: 0,
      tickformat: undefined,
      minor: { ticks: "outside", ticklen: 3, dtick: every > 1 ? 1 : "D1", showgrid: false },
    }
  }
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i)
  const steps = [[1], [1, 3], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]
  const fits = steps.map((digits) => {
    const places = decades.flatMap((decade) => digits.map((digit) => Number(`${digit}e${decade}`)))
    return places.filter((value) => Math.log10(value) >= low - 0.05 && Math.log10(value) <= high + 0.05)
  })
  const apart = (/** @type {number[]} */ ticks) =>
    ticks.slice(1).every((value, i) => Math.log10(value) - Math.log10(ticks[i]) >= least)
  const ends = fits[2].length > 1 ? [fits[2][0], fits[2][fits[2].length - 1]] : fits[3].slice(0, 1)
  const best = [ends.slice(0, 1), ends, ...fits].filter((ticks) => ticks.length && apart(ticks)).at(-1)
  if (!best) return {}
  return {
    tickvals: best,
    ticktext: best.map((value) => String(Number(value.toPrecision(3)))),
    dtick: undefined,
    tickformat: undefined,
    minor: undefined,
  }
}

/** @param {number[]} values */
function extremes(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity])
}

/**
 * Panels one above the other, far enough apart for the numbers and titles between them. Annotations that stand at a
 * panel's edge go with it.
 * @param {Layout} layout
 * @param {number} height
 * @param {number} letters
 */
export function spreadRows(layout, height, letters) {
  const rows = bandsOf(layout, "y")
  const titles = (layout.annotations ?? []).filter((/** @type {Layout} */ one) => one.yref === "paper")
  const needs = rows.slice(0, -1).map(([, top], i) => {
    const numbered = numberedAt(layout, "x", rows[i + 1][0])
    const numbers = numbered.some(({ type }) => type === "log") ? 3.1 : 2.4 // powers of ten are higher
    const titled = titles.some((/** @type {Layout} */ { y }) => Math.abs(y - top) < NEAR)
    return ((numbered.length ? numbers : 0.6) + (titled ? 1.5 : 0.3)) * letters
  })
  const moved = spread(layout, "y", rows, needs, usable(height, letters, false))
  for (const one of titles) {
    const at = rows.findIndex(([, top]) => Math.abs(one.y - top) < NEAR)
    if (at >= 0) one.y = moved[at][1]
  }
}

/**
 * The same for panels side by side, each with the numbers of its own upward axis to its left. A title above the middle
 * of a panel stays there.
 * @param {Layout} layout
 * @param {number} width
 * @param {number} letters
 */
export function spreadColumns(layout, width, letters) {
  const columns = bandsOf(layout, "x")
  const needs = columns.slice(1).map(([left]) => {
    const numbered = numberedAt(layout, "y", left)
    const titled = numbered.some(({ title }) => title)
    return ((numbered.length ? 3.6 : 0) + (titled ? 1.6 : 0)) * letters
  })
  if (!needs.some(Boolean)) return
  const moved = spread(layout, "x", columns, needs, usable(width, letters, true))
  for (const one of layout.annotations ?? []) {
    const at = columns.findIndex((column) => one.xref === "paper" && Math.abs(one.x - middle(column)) < NEAR)
    if (at >= 0) one.x = middle(moved[at])
  }
}

/** @param {Band} band */
const middle = ([from, to]) => (from + to) / 2

/** @typedef {[from: number, to: number]} Band of a figure's width or height */
const NEAR = 0.02
const LEAST_LEFT = 0.3 // of a figure, for its panels: with less, they stay where they are

/**
 * Where the panels' rows (y) or columns (x) lie.
 * @param {Layout} layout
 * @param {"x" | "y"} letter
 * @returns {Band[]}
 */
function bandsOf(layout, letter) {
  const domains = axesOf(layout, letter).flatMap(({ domain }) => (domain ? [domain.join()] : []))
  const bands = [...new Set(domains)].map((text) => /** @type {Band} */ (text.split(",").map(Number)))
  return bands.sort(([a], [b]) => a - b)
}

/**
 * @param {Layout} layout
 * @param {"x" | "y"} letter
 * @returns {Axis[]}
 */
function axesOf(layout, letter) {
  return Object.keys(layout).flatMap((name) => (new RegExp(`^${letter}axis\\d*$`).test(name) ? [layout[name]] : []))
}

/**
 * The axes with numbers that stand where a band begins: below a row, or to the left of a column.
 * @param {Layout} layout
 * @param {"x" | "y"} letter of the axes
 * @param {number} edge
 */
function numberedAt(layout, letter, edge) {
  const other = letter === "x" ? "y" : "x"
  return axesOf(layout, letter).filter((axis) => {
    const anchor = layout[String(axis.anchor ?? other).replace(other, `${other}axis`)]
    return axis.showticklabels !== false && anchor?.domain?.[0] === edge
  })
}

/**
 * Moves bands apart, each as much smaller as the others, where there is room for that: where they are then.
 * @param {Layout} layout
 * @param {"x" | "y"} letter
 * @param {Band[]} bands
 * @param {number[]} needs of the gaps after them, in points
 * @param {number} all points
 * @returns {Band[]}
 */
function spread(layout, letter, bands, needs, all) {
  const apart = bands.slice(1).every(([low], i) => low >= bands[i][1]) // and not one axis over another
  if (bands.length < 2 || !apart) return bands
  const gaps = needs.map((need, i) => Math.max(need / all, bands[i + 1][0] - bands[i][1]))
  const left = 1 - gaps.reduce((sum, gap) => sum + gap, 0)
  const before = bands.reduce((sum, [low, top]) => sum + top - low, 0)
  if (left < LEAST_LEFT || before <= 0) return bands
  let edge = 0
  const moved = bands.map(([low, top], i) => {
    const size = ((top - low) / before) * left
    const place = /** @type {Band} */ ([edge, Math.min(1, edge + size)])
    edge += size + (gaps[i] ?? 0)
    return place
  })
  for (const axis of axesOf(layout, letter).filter(({ domain }) => domain))
    axis.domain = moved[bands.findIndex(([low]) => low === axis.domain?.[0])]
  return moved
}
