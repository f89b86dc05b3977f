// @ts-check
// The numbers of a figure as a table: each with its panel, its curve, and what it is of that curve.
import { plainWords } from "./chart_words.js"
import { rowsOf, valuesOf } from "./figure_values.js"

/** @import { Axis, Layout, Trace } from "./types.d.ts" */

const HEAD = ["chart", "panel", "curve", "kind", "x", "y", "z"]
const NEAR = 1e-6 // of the figure

/** @type {[string, (trace: Trace) => unknown][]} what a row is of its curve, where a curve is there more than once */
const KINDS = [
  ["raw", ({ meta }) => meta?.behind],
  ["smoothed", ({ meta }) => meta?.smooth],
  ["so far", ({ meta }) => meta?.of === "plan"], // beside all that was planned
]

/**
 * Every number that a figure shows: a row a point; of a map, a row a cell.
 * @param {{ title: string, data: Trace[], layout: Layout }[]} charts
 */
export function csvOf(charts) {
  const rows = charts.flatMap(({ title, data, layout }) =>
    data.flatMap((trace) => {
      if (trace.visible === false || trace.visible === "legendonly" || trace.meta?.again) return []
      const own = [title, panelOf(trace, layout), trace.name ?? ""]
      const kind = kindOf(trace, layout)
      const [across, up] = [valueAt(trace, "x", layout), valueAt(trace, "y", layout)]
      if (!("z" in trace))
        return valuesOf(trace.y).map((value, i, all) => [...own, kind(i / all.length), across(i), value, ""])
      const shown = rowsOf(trace.meta?.values ?? trace.z) // the colour of a cell may be another number than its own
      return shown.flatMap((row, r) => Array.from(row, (value, c) => [...own, kind(0), across(c), up(r), value]))
    }),
  )
  return [HEAD, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("")
}

/**
 * The title above a trace's panel, and that of its upward axis, which stands once for panels side by side.
 * @param {Trace} trace
 * @param {Layout} layout
 */
function panelOf({ xaxis = "x", yaxis = "y" }, layout) {
  const [across, up] = [axisOf(layout, xaxis), axisOf(layout, yaxis)]
  const [[left, right], [, top]] = [domainOf(across), domainOf(up)]
  const [above] = (layout.annotations ?? [])
    .filter(
      (/** @type {Layout} */ { xref, yref, yanchor, x, y }) =>
        [xref, yref].every((ref) => ref === "paper") &&
        yanchor === "bottom" &&
        x >= left &&
        x <= right &&
        y > top - NEAR,
    )
    .sort((/** @type {Layout} */ one, /** @type {Layout} */ other) => one.y - other.y)
  const beside = Object.keys(layout)
    .filter((name) => /^yaxis\d*$/.test(name) && String(domainOf(layout[name])) === String(domainOf(up)))
    .map((name) => titleOf(layout[name]))
  return [above?.text, titleOf(up) || beside.find(Boolean)].filter(Boolean).join(", ")
}

/**
 * What a row is of its curve. A band goes forth along its highest values, and back along its lowest.
 * @param {Trace} trace
 * @param {Layout} layout
 * @returns {(part: number) => string} of the trace, from 0 to 1
 */
function kindOf(trace, layout) {
  if (isBand(trace)) return (part) => (part < 0.5 ? "highest" : "lowest")
  const kind = trace.coloraxis
    ? (layout.coloraxis?.colorbar?.title?.text ?? "")
    : (KINDS.find(([, holds]) => holds(trace))?.[0] ?? "")
  return () => kind
}

/** A ridge is filled, too, and has an edge. @param {Trace} trace */
const isBand = ({ fill, line }) => fill === "toself" && line?.width === 0

/**
 * What stands at a place along an axis: a trace's own value, or what the axis says there, or else the place's number. A
 * gap in a curve is none.
 * @param {Trace} trace
 * @param {"x" | "y"} letter
 * @param {Layout} layout
 * @returns {(place: number) => number | string | null | undefined}
 */
function valueAt(trace, letter, layout) {
  const own = valuesOf(trace[letter])
  if (own.length) return (place) => own[place]
  const { tickvals, ticktext } = axisOf(layout, String(trace[`${letter}axis`] ?? letter))
  const [places, words] = [valuesOf(tickvals), valuesOf(ticktext)]
  return (place) => words[places.indexOf(place)] ?? place
}

/**
 * @param {Layout} layout
 * @param {string} name "x2" for xaxis2
 * @returns {Axis}
 */
const axisOf = (layout, name) => layout[`${name[0]}axis${name.slice(1)}`] ?? {}

/** @param {Axis} axis */
const domainOf = ({ domain }) => domain ?? [0, 1]

/** @param {Axis} axis */
const titleOf = ({ title }) => /** @type {{ text?: string } | undefined} */ (title)?.text ?? ""

/** @param {number | string | null | undefined} value */
function field(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : ""
  const text = plainWords(value)
  // A table that is opened in a spreadsheet must not compute what a label says.
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
