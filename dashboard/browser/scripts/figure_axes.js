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
  const keys = Object.keys(layout).filter((name) => /^yaxis\d*$/.test(name) && layout[name].domain)
  const rows = [...new Set(keys.map((name) => layout[name].domain.join()))]
    .map((text) => text.split(",").map(Number))
    .sort(([a], [b]) => a - b)
  const apart = rows.slice(1).every(([low], i) => low >= rows[i][1]) // and not one axis over another
  if (rows.length < 2 || !apart) return
  const titles = (layout.annotations ?? []).filter((/** @type {Layout} */ one) => one.yref === "paper")
  const needs = rows.slice(0, -1).map(([, top], i) => {
    const numbered = Object.keys(layout).filter((name) => {
      if (!/^xaxis\d*$/.test(name) || layout[name].showticklabels === false) return false
      const anchor = layout[String(layout[name].anchor ?? "y").replace("y", "yaxis")]
      return anchor?.domain?.[0] === rows[i + 1][0]
    })
    const numbers = numbered.some((name) => layout[name].type === "log") ? 3.1 : 2.4 // powers of ten are higher
    const titled = titles.some((/** @type {Layout} */ { y }) => Math.abs(y - top) < 0.02)
    return ((numbered.length ? numbers : 0.6) + (titled ? 1.5 : 0.3)) * letters
  })
  const all = usable(height, letters, false)
  const gaps = needs.map((need, i) => Math.max(need / all, rows[i + 1][0] - rows[i][1]))
  const left = 1 - gaps.reduce((sum, gap) => sum + gap, 0)
  const before = rows.reduce((sum, [low, top]) => sum + top - low, 0)
  if (left < 0.3 || before <= 0) return
  let bottom = 0
  const moved = rows.map(([low, top], i) => {
    const high = ((top - low) / before) * left
    const place = [bottom, Math.min(1, bottom + high)]
    bottom += high + (gaps[i] ?? 0)
    return place
  })
  for (const name of keys) layout[name].domain = moved[rows.findIndex(([low]) => low === layout[name].domain[0])]
  for (const one of titles) {
    const at = rows.findIndex(([, top]) => Math.abs(one.y - top) < 0.02)
    if (at >= 0) one.y = moved[at][1]
  }
}
