// @ts-check
// The cells of a sweep's maps by keyboard: one button, in which the arrow keys go from cell to cell, and Enter picks.
import { plainWords } from "./chart_words.js"
import { element, setText } from "./live_elements.js"

/** @import { Figure, MapTrace } from "./types.d.ts" */
/** @typedef {MapTrace & { meta: { cells: number[][][] }, xaxis?: string, yaxis?: string, customdata?: string[][] }} Panel */

/** @type {Partial<Record<string, [number, number]>>} columns and rows; rows are counted upwards */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }

export class CellKeys {
  /** @param {{ pick(places: number[]): void, set(change: object): void }} page */
  constructor(page) {
    this.page = page
    this.at = { panel: 0, row: 0, column: 0 }
    /** @type {Panel[]} */
    this.panels = []
    this.button = element("button", { type: "button", className: "lab-button lab-cell" })
    this.told = element("span", { className: "lab-cell-told", role: "status" })
    this.box = element("div", { className: "lab-cells" }, this.button, this.told)
    this.button.title = "Arrow keys move from cell to cell, Enter opens one, or adds it to the selection"
    this.button.onclick = () => this.page.pick(this.places)
    this.button.onkeydown = (event) => this.key(event)
    for (const event of ["focus", "blur"]) this.button.addEventListener(event, () => this.page.set({}))
  }

  get places() {
    const { panel, row, column } = this.at
    return this.panels[panel]?.meta.cells[row]?.[column] ?? []
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = STEPS[event.key]
    if (!step) return
    event.preventDefault()
    this.at = moved(
      this.at,
      step,
      this.panels.map(({ meta }) => meta.cells),
    )
    this.page.set({})
  }

  /**
   * Takes over the maps that are drawn, and marks its cell in them while it has the focus.
   * @param {Figure} figure
   */
  mark({ data, layout }) {
    this.panels = /** @type {Panel[]} */ (/** @type {unknown[]} */ (data.filter(({ meta }) => meta && "cells" in meta)))
    if (!this.places.length) this.at = { panel: 0, row: 0, column: 0 }
    const { panel, row, column } = this.at
    const shown = this.panels[panel]
    const words = plainWords(shown?.customdata?.[row]?.[column])
    setText(this.button, `Cell by keyboard: ${words}`)
    this.box.hidden = !shown
    const focused = document.activeElement === this.button
    setText(this.told, focused ? words : "")
    if (!shown || !focused) return
    const [x, y] = [shown.xaxis ?? "x", shown.yaxis ?? "y"]
    const place = { xref: x, yref: y, x0: column - 0.5, x1: column + 0.5, y0: row - 0.5, y1: row + 0.5 }
    // White in black, to be seen on every colour of the map.
    layout.shapes = [
      ...(layout.shapes ?? []),
      { type: "rect", ...place, line: { color: "#000000", width: 6 } },
      { type: "rect", ...place, line: { color: "#ffffff", width: 3 } },
    ]
  }
}

/**
 * One cell further; past the last row of a map comes the next map, which stands below it.
 * @param {{ panel: number, row: number, column: number }} at
 * @param {[number, number]} step
 * @param {number[][][][]} panels
 */
export function moved({ panel, row, column }, [across, up], panels) {
  const next = row + up
  const other = next < 0 ? panel + 1 : next >= panels[panel].length ? panel - 1 : panel
  if (!panels[other]) return { panel, row, column }
  const rows = panels[other]
  const at = other === panel ? next : up < 0 ? rows.length - 1 : 0
  return { panel: other, row: at, column: Math.min(Math.max(column + across, 0), rows[at].length - 1) }
}
