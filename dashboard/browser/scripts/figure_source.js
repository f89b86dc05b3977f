// @ts-check
// Which charts of the page can be exported, and where each takes its figure from.

/** @import { Figure, FigureSource } from "./types.d.ts" */

/** @type {Map<Element, FigureSource>} */
const sources = new Map()

/**
 * Said again whenever a chart is drawn: what it shows may be another now.
 * @param {Element} box
 * @param {FigureSource} source
 */
export function exportable(box, source) {
  for (const known of sources.keys()) if (!known.isConnected) sources.delete(known)
  sources.set(box, source)
}

/** @param {Element} box */
export const sourceOf = (box) => sources.get(box)

/** The charts on the page that have been drawn, from its top to its bottom. */
export function shownCharts() {
  const shown = [...sources.keys()].filter((box) => box.isConnected && /** @type {HTMLElement} */ (box).offsetWidth > 0)
  return shown.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))
}

/**
 * What a still chart shows now: its zoom, and the curves that were switched off in its legend. One that was not near
 * the screen yet would show what it was sent.
 * @param {HTMLElement} box
 * @param {Figure} sent
 * @returns {Figure}
 */
export function drawnNow(box, sent) {
  const { data, layout } = /** @type {Partial<Figure>} */ (box)
  return data && layout ? { data: [...data], layout } : sent
}
