// @ts-check
// A curve made ready for drawing: thinned, smoothed, or cut at a step.

/** @import { Series, Value } from "./types.d.ts" */

const MOST_POINTS = 2000

/**
 * Two points for each stretch of the curve, its lowest and its highest, so that no spike is lost. Always new arrays:
 * Plotly knows by them that something is new, and the history's own go on growing.
 * @template T
 * @param {{ x: T[], y: Value[] }} curve
 * @param {number} [most]
 */
export function thinned({ x, y }, most = MOST_POINTS) {
  if (x.length <= most) return { x: x.slice(), y: y.slice() }
  const size = x.length / (most / 2)
  const kept = { x: /** @type {T[]} */ ([]), y: /** @type {Value[]} */ ([]) }
  for (let start = 0; start < x.length; start += size) {
    const from = Math.floor(start)
    const to = Math.min(Math.floor(start + size), x.length)
    let [low, high] = [-1, -1]
    for (let i = from; i < to; i++) {
      const value = y[i]
      if (value === null) continue
      if (low < 0 || value < Number(y[low])) low = i
      if (high < 0 || value > Number(y[high])) high = i
    }
    const pair = low < 0 ? [from] : low === high ? [low] : [Math.min(low, high), Math.max(low, high)]
    for (const i of pair) {
      kept.x.push(x[i])
      kept.y.push(y[i])
    }
  }
  return kept
}

/**
 * The part of a curve until a step; a step between two of its points is on the line between them.
 * @param {Series} curve
 * @param {number} step
 * @returns {Series}
 */
export function upTo({ x, y }, step) {
  const beyond = x.findIndex((t) => t > step)
  if (beyond < 0) return { x, y }
  const cut = { x: x.slice(0, beyond), y: y.slice(0, beyond) }
  const [before, after] = [y[beyond - 1] ?? null, y[beyond]]
  if (x[beyond - 1] < step && before !== null && after !== null) {
    cut.x.push(step)
    cut.y.push(before + ((after - before) * (step - x[beyond - 1])) / (x[beyond] - x[beyond - 1]))
  }
  return cut
}

/**
 * An exponential average that starts unbiased, as Adam's does. Rounded as the data are: equal losses must stay equal, or
 * an axis spans the last digit of a number, which has no room for a label.
 * @template {number} T
 * @param {{ x: T[], y: Value[] }} curve
 * @param {number} weight
 */
export function smoothed({ x, y }, weight) {
  if (!weight) return { x, y }
  let unit = 0 // the widest gap between two points: where they lie closer, as at a race's end, each counts for less
  for (let i = 1; i < x.length; i++) unit = Math.max(unit, x[i] - x[i - 1])
  let average = 0
  let share = 0
  let last = -Infinity
  const out = y.map((value, i) => {
    if (value === null) return null
    const kept = weight ** Math.min(1, unit ? (x[i] - last) / unit : 1)
    average = kept * average + (1 - kept) * value
    share = kept * share + 1 - kept
    last = x[i]
    return Math.fround(average / share)
  })
  return { x, y: out }
}
