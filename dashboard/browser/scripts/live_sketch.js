// @ts-check
// A chart's curves before plotly.js has come, which takes a first visitor's browser a second: lines, two axes, no more.

import { dashesOf } from "./figure_dashes.js"
import { scaleOf } from "./live_chart.js"

/** @import { Axis, Figure, Layout, Room, Trace } from "./types.d.ts" */

const SVG = "http://www.w3.org/2000/svg"
// About where Plotly will draw, with room for two rows of a legend, which waits for it: the cards have the names.
const MARGIN = { left: 62, right: 16, top: 20, bottom: 46 }
const LEGEND = 60
const TICKS = 7 // at most

/**
 * The visible lines of a figure with one pair of axes, from left to right and from bottom to top.
 * @param {Figure} figure
 * @param {Room} room
 * @param {Layout} look of the theme
 */
export function sketch({ data, layout }, { width, height }, look) {
  const above = MARGIN.top + (layout.showlegend ? LEGEND : 0)
  const lines = data.filter(({ visible, x }) => visible !== false && x.length)
  const [across, up] = [layout.xaxis, layout.yaxis].map((axis, k) => onAxis(axis, lines, k ? "y" : "x"))
  /** @type {(value: number) => number} */
  const left = (value) => MARGIN.left + across.part(value) * (width - MARGIN.left - MARGIN.right)
  /** @type {(value: number) => number} */
  const top = (value) => height - MARGIN.bottom - up.part(value) * (height - above - MARGIN.bottom)
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom]
  const { color, family } = look.font
  const drawn = node("svg", { class: "lab-sketch", viewBox: `0 0 ${width} ${height}`, width, height })
  const text = { fill: color, "font-family": family, "font-size": layout.font?.size ?? 13 }
  for (const { at, label } of up.ticks) {
    drawn.append(node("line", { x1: MARGIN.left, x2: right, y1: top(at), y2: top(at), stroke: look.yaxis.gridcolor }))
    drawn.append(node("text", { x: MARGIN.left - 8, y: top(at) + 4, "text-anchor": "end", ...text }, label))
  }
  for (const { at, label } of across.ticks) {
    drawn.append(node("line", { x1: left(at), x2: left(at), y1: above, y2: bottom, stroke: look.xaxis.gridcolor }))
    drawn.append(node("text", { x: left(at), y: bottom + 18, "text-anchor": "middle", ...text }, label))
  }
  const frame = `M${MARGIN.left},${above}V${bottom}H${right}`
  drawn.append(node("path", { d: frame, stroke: look.xaxis.linecolor, fill: "none" }))
  for (const { x, y, line, opacity = 1 } of lines)
    drawn.append(
      node("path", {
        d: way(
          x.map((value, i) => [across.to(Number(value)), up.to(y[i])]),
          left,
          top,
        ),
        fill: "none",
        stroke: line.color,
        "stroke-width": line.width,
        "stroke-dasharray": dashesOf(line.dash ?? "solid", line.width).join(" ") || "none",
        opacity: Number(opacity),
      }),
    )
  const names = [layout.xaxis, layout.yaxis].map((axis) => axis.title?.text ?? "")
  const middle = { x: (MARGIN.left + right) / 2, y: height - 8, "text-anchor": "middle" }
  drawn.append(node("text", { ...middle, ...text }, names[0]))
  const turned = `translate(16 ${(above + bottom) / 2}) rotate(-90)`
  drawn.append(node("text", { transform: turned, "text-anchor": "middle", ...text }, names[1]))
  return drawn
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {string} [words]
 */
function node(name, attributes, words = "") {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  made.textContent = words
  return made
}

/**
 * Where values lie between an axis's ends, from 0 to 1, and what is written at it.
 * @param {Axis} axis
 * @param {Trace[]} lines
 * @param {"x" | "y"} side
 */
function onAxis(axis, lines, side) {
  const { to } = scaleOf(axis.type)
  const values = lines.flatMap((line) => line[side].map((value) => to(value === null ? null : Number(value))))
  const known = values.filter((value) => value !== null)
  const found = known.reduce(
    (ends, value) => [Math.min(ends[0], value), Math.max(ends[1], value)],
    [Infinity, -Infinity],
  )
  const [low, high] = axis.autorange === false && axis.range ? axis.range : found
  const air = side === "y" ? 0.05 * (high - low) : 0 // as Plotly leaves above and below curves
  const [from, size] = [low - air, high - low + 2 * air || 1]
  /** @type {(value: number) => number} */
  const part = (value) => (value - from) / size
  return { to, part, ticks: ticks(from, from + size, axis.type === "log") }
}

/**
 * Round numbers between two ends; on a logarithmic axis powers of ten.
 * @param {number} low
 * @param {number} high
 * @param {boolean} log
 */
export function ticks(low, high, log) {
  const rough = (high - low) / TICKS
  const ten = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * ten).find((size) => size >= rough) ?? ten
  const every = log ? Math.max(1, Math.ceil(step)) : step
  const first = Math.ceil(low / every)
  const count = Math.max(0, Math.floor(high / every) - first + 1)
  return Array.from({ length: count }, (_, i) => {
    const at = (first + i) * every
    return { at, label: String(Number((log ? 10 ** at : at).toPrecision(6))) }
  })
}

/**
 * @param {(number | null)[][]} points on linear axes; a gap where one is missing
 * @param {(value: number) => number} left
 * @param {(value: number) => number} top
 */
function way(points, left, top) {
  let pen = "M"
  let path = ""
  for (const [x, y] of points) {
    if (x === null || y === null) pen = "M"
    else {
      path += `${pen}${left(x).toFixed(1)},${top(y).toFixed(1)}`
      pen = "L"
    }
  }
  return path
}
