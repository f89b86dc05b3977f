// @ts-check
// Lanes that lie on one another are all seen: where they coincide, their colours take turns along the line.
//
// A chart is cut into narrow blocks. In a block where several curves are less than `NEAR` pixels apart, one of them is
// drawn once more, above the others, and in the next block the next one. A curve is only ever drawn where it is, so a
// reader who zooms in, and finds the curves apart, sees nothing that is not there.

/** @import { Path, Series } from "./types.d.ts" */
/** @typedef {{ k: number, x: number[], y: number[] }} Part of curve number k, inside one block */

const BLOCK = 14 // pixels of the x axis
const NEAR = 2.5 // pixels of the y axis

/**
 * @param {Series[]} curves in the units of linear axes, with null in y for what is not there
 * @param {number} width of the plot, in pixels
 * @param {number} height
 * @returns {Path[]} for each curve the pieces of it to draw again
 */
export function shares(curves, width, height) {
  /** @type {Path[]} */
  const pieces = curves.map(() => ({ x: [], y: [] }))
  const [left, right] = extent(curves.flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : [])))
  const [low, high] = extent(curves.flatMap(({ y }) => y.filter((value) => value !== null)))
  const blocks = Math.floor(width / BLOCK)
  if (curves.length < 2 || !(right > left) || blocks < 1) return pieces
  const near = (NEAR * (high - low || 1)) / height
  const readers = curves.map(reader)
  for (let block = 0; block < blocks; block++) {
    const from = left + ((right - left) * block) / blocks
    const to = left + ((right - left) * (block + 1)) / blocks
    const parts = readers.map((read, k) => ({ k, ...read(from, to) })).filter(({ y }) => y.length > 1)
    for (const members of together(parts, near)) {
      if (members.length < 2) continue
      const { k, x, y } = members[block % members.length]
      const own = pieces[k]
      if (own.x.length && own.x.at(-1) !== from) {
        own.x.push(from)
        own.y.push(null)
      }
      own.x.push(...x)
      own.y.push(...y)
    }
  }
  return pieces
}

/**
 * Parts of curves in groups of those that have the same heights in the block, in the order of the curves.
 * @param {Part[]} parts
 * @param {number} near
 */
function together(parts, near) {
  const sorted = parts.map((part) => ({ ...part, span: extent(part.y) })).sort((a, b) => a.span[0] - b.span[0])
  /** @type {(typeof sorted)[]} */
  const groups = []
  for (const part of sorted) {
    const group = groups.find(([first]) => [0, 1].every((end) => Math.abs(first.span[end] - part.span[end]) <= near))
    if (group) group.push(part)
    else groups.push([part])
  }
  return groups.map((group) => group.sort((a, b) => a.k - b.k))
}

/**
 * A function that gives the part of a curve between two x, its ends on the line between the points beside them. It is
 * to be called from left to right.
 * @param {Series} curve
 */
function reader({ x, y }) {
  let at = 0
  /** @type {(i: number, place: number) => number | null} */
  const height = (i, place) => {
    const here = y[i] ?? null
    if (here === null || x[i] === place) return here
    const next = y[i + 1] ?? null
    return next === null ? null : here + ((next - here) * (place - x[i])) / (x[i + 1] - x[i])
  }
  return (/** @type {number} */ from, /** @type {number} */ to) => {
    while (at + 1 < x.length && x[at + 1] <= from) at++
    const part = { x: /** @type {number[]} */ ([]), y: /** @type {number[]} */ ([]) }
    const push = (/** @type {number} */ place, /** @type {number | null} */ value) => {
      if (value === null) return
      part.x.push(place)
      part.y.push(value)
    }
    push(from, x[at] <= from ? height(at, from) : null)
    let i = at
    for (; i < x.length && x[i] < to; i++) if (x[i] > from) push(x[i], y[i])
    push(to, height(x[i] === to ? i : i - 1, to))
    return part
  }
}

/** @param {number[]} values */
function extent(values) {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return [low, high]
}
