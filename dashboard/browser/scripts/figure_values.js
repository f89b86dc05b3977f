// @ts-check
// The numbers of a figure as plain arrays, and as a table.

/** @import { Trace } from "./types.d.ts" */

/** @type {Record<string, new (buffer: ArrayBuffer) => ArrayLike<number | bigint>>} */
const TYPES = {
  f8: Float64Array,
  f4: Float32Array,
  i8: BigInt64Array,
  i4: Int32Array,
  i2: Int16Array,
  i1: Int8Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
}

/**
 * Plotly takes arrays also as bytes in base 64.
 * @param {unknown} given
 * @returns {(number | string | null)[]}
 */
export function valuesOf(given) {
  if (given && typeof given === "object" && "bdata" in given) {
    const { bdata, dtype } = /** @type {{ bdata: string, dtype: string }} */ (given)
    const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0))
    return Array.from(new TYPES[dtype.replace(/^[<|=]/, "")](bytes.buffer), Number)
  }
  return Array.from(/** @type {ArrayLike<number | string | null>} */ (given ?? []))
}

/**
 * A table of numbers, which Plotly also takes as bytes with a shape.
 * @param {unknown} given
 * @returns {(number | string | null)[][]}
 */
function rowsOf(given) {
  if (Array.isArray(given)) return given
  const width = Number(/** @type {{ shape: string }} */ (given).shape.split(",")[1])
  const all = valuesOf(given)
  return Array.from({ length: all.length / width }, (_, r) => all.slice(r * width, (r + 1) * width))
}

/**
 * Every number that a figure shows: a row a point, with the name of its curve; of a map, a row a cell.
 * @param {{ title: string, data: Trace[] }[]} panels
 */
export function csvOf(panels) {
  const rows = panels.flatMap(({ title, data }) =>
    data.flatMap((trace) => {
      if (trace.visible === false || trace.visible === "legendonly" || trace.meta?.again) return []
      const own = [title, trace.name ?? ""]
      const [x, y] = [valuesOf(trace.x), valuesOf(trace.y)]
      // Without an axis of its own a place is its number; a gap in a curve is none.
      const [across, up] = [x, y].map((given) => (/** @type {number} */ i) => (given.length ? given[i] : i))
      if (!("z" in trace)) return y.map((value, i) => [...own, across(i), value, ""])
      return rowsOf(trace.z).flatMap((row, r) => Array.from(row, (value, c) => [...own, across(c), up(r), value]))
    }),
  )
  return [["chart", "curve", "x", "y", "z"], ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("")
}

/** @param {number | string | null | undefined} value */
function field(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : ""
  const text = (value ?? "").replace(/<[^>]*>/g, "")
  // A table that is opened in a spreadsheet must not compute what a label says.
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
