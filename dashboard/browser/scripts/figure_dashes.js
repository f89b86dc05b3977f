// @ts-check
// How a line is dashed, as Plotly draws it.

/** @type {Record<string, number[]>} in widths of the line */
const DASHES = { dash: [3, 3], dot: [1, 1], dashdot: [3, 1, 1, 1], longdash: [5, 5], longdashdot: [5, 2, 1, 2] }

/**
 * Lengths of strokes and gaps; none of a line without gaps.
 * @param {string} dash one of Plotly's names, or lengths such as "5px,3px"
 * @param {number} width of the line
 */
export function dashesOf(dash, width) {
  if (/^[\d.]+px/.test(dash)) return dash.split(",").map((part) => Number.parseFloat(part))
  return (DASHES[dash] ?? []).map((part) => part * width)
}
