// @ts-check
// The packed numbers of a record, as dashboard/runs/records.py writes them.

/** @import { Counts, Value } from "./types.d.ts" */

/**
 * Rows of equal length: base64 of float32, null for what is not finite.
 * @param {string} text
 * @param {number} rows
 * @returns {Value[][]}
 */
export function unpackedRows(text, rows) {
  const values = unpacked(text)
  return inParts(values, values.length / rows, rows)
}

/**
 * Points in the plane, packed in the same way.
 * @param {string} text
 * @returns {Value[][]} [i] = [x, y]
 */
export function unpackedPoints(text) {
  const values = unpacked(text)
  return inParts(values, 2, values.length / 2)
}

/**
 * Histograms, as base64 of whole numbers by sevens of bits: for each its zeros, its first bin, how many bins, and those.
 * @param {string} text
 */
export function unpackedCounts(text) {
  const bytes = bytesOf(text)
  let at = 0
  const next = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  /** @type {Counts[]} */
  const rows = []
  while (at < bytes.length) {
    const [zeros, first, size] = [next(), next(), next()]
    rows.push({ zeros, first, counts: Array.from({ length: size }, next) })
  }
  return rows
}

/** @param {string} text */
function unpacked(text) {
  return Array.from(new Float32Array(bytesOf(text).buffer), (value) => (Number.isFinite(value) ? value : null))
}

/** @param {string} text */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

/**
 * @template T
 * @param {T[]} values
 * @param {number} size
 * @param {number} parts
 */
function inParts(values, size, parts) {
  return Array.from({ length: parts }, (_, i) => values.slice(i * size, (i + 1) * size))
}
