// @ts-check
// A chart that plays, as pictures one after the other.

/** @import { Figure, FigurePart, Room } from "./types.d.ts" */

/**
 * The moments of a figure with frames of its own.
 * @param {Figure} figure
 * @param {string} title
 * @param {number} most
 * @returns {((room: Room) => FigurePart[])[]}
 */
export function framesOf({ data, layout, frames = [] }, title, most) {
  const own = /** @type {{ data: object[], traces?: number[], layout?: object }[]} */ (frames)
  const every = Math.max(1, Math.ceil(own.length / most))
  return own
    .filter((_, i) => i % every === 0 || i === own.length - 1)
    .map((frame) => () => {
      const changed = [...data]
      frame.data.forEach((part, i) => {
        const place = frame.traces?.[i] ?? i
        changed[place] = { ...changed[place], ...part }
      })
      return [{ title, lanes: false, figure: { data: changed, layout: { ...layout, ...frame.layout } } }]
    })
}
