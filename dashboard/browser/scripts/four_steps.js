// @ts-check
// The page of Appendix C: a table beside the paper's that fills in as lanes are trained, and their curves.
import { chartBox, drawFigure, sourceIn, tableOf } from "./findings_parts.js"
import { keptPage } from "./kept_page.js"
import { element, setText } from "./live_elements.js"
import { loadPlotly } from "./plot_parts.js"
import { StatusBar } from "./status_bar.js"
import { SweepRun } from "./sweep_run.js"

/** @import { Component, FourStepsFound, FourStepsMessage, Theme } from "./types.d.ts" */

const REDRAW_MS = 250

export class FourStepsPage {
  /**
   * @param {HTMLElement} root
   * @param {Component} component
   */
  constructor(root, component) {
    this.root = root
    this.component = component
    /** @type {SweepRun<FourStepsFound>} */
    this.going = new SweepRun("four-steps", {
      changed: () => this.changed(),
      found: () => {},
      ended: () => this.component.setTriggerValue("action", "ended"),
    })
    this.bar = new StatusBar(
      () => this.going.standing("Train"),
      (action) => this.component.setTriggerValue("action", action),
    )
    this.table = element("div", { className: "lab-table" })
    this.sentences = element("ul", { className: "lab-sentences" })
    this.chart = chartBox("courses", "Loss over the steps of each variant, mean and range over the seeds")
    this.root.replaceChildren(this.bar.box, this.table, this.chart, this.sentences)
    this.resized = new ResizeObserver(() => this.changed())
    this.resized.observe(this.chart)
    this.shown = "" // the table that is there
    this.seeds = 0 // whose first steps were told
    this.closed = false
    /** @type {number | undefined} */
    this.timer = undefined
    this.drawnAt = 0
  }

  /**
   * @param {FourStepsMessage} message
   * @param {Theme} theme
   */
  update(message, theme) {
    const before = this.message
    this.message = message
    this.theme = theme
    const { run, drawn } = message
    const other = before?.drawn.revision !== drawn.revision
    if (other || before?.run.id !== run.id || before?.run.attempt !== run.attempt) {
      this.seeds = 0
      this.going.follow(message.base, run, drawn.lanes, drawn.grid.length)
    }
    this.going.run = run
    this.changed()
  }

  changed() {
    this.timer ??= setTimeout(() => this.draw(), Math.max(0, this.drawnAt + REDRAW_MS - performance.now()))
  }

  async draw() {
    const { message, going } = this
    try {
      const Plotly = await loadPlotly(String(message?.plotlyUrl))
      if (this.closed || !message) return
      const found = going.found ?? message.known ?? message.drawn.start
      this.bar.draw()
      this.fill(found)
      this.tellFirstSteps(found.table.rows.length)
      if (this.chart.offsetWidth)
        await drawFigure(Plotly, this.chart, found.figures.courses, {
          revision: message.drawn.revision,
          source: sourceIn(message, this.theme ?? "light", "four-steps", "Loss of each variant", this.chart),
        })
      going.mark(this.root)
    } catch (error) {
      this.bar.text.textContent = `The charts could not be drawn: ${/** @type {Error} */ (error).message}. Reload the page to try again.`
      throw error
    } finally {
      this.drawnAt = performance.now()
      this.timer = undefined
    }
  }

  /**
   * Touches the page only where something is new: a button that was just pressed stays the same button.
   * @param {FourStepsFound} found
   */
  fill({ table, sentences }) {
    const shown = JSON.stringify([table, this.going.run?.id])
    if (shown !== this.shown) {
      this.shown = shown
      const made = tableOf([...table.head, ""], table.rows)
      const above = table.groups.map(([textContent, colSpan]) =>
        textContent
          ? element("th", { textContent, colSpan, scope: "colgroup", className: "lab-group" })
          : element("td", { colSpan }),
      )
      made.tHead?.prepend(element("tr", {}, ...above, element("td")))
      ;[...made.tBodies[0].rows].forEach((row, i) => {
        const open = element("button", { type: "button", className: "lab-button lab-open", textContent: "Race" })
        open.disabled = !this.going.run?.id
        open.title = "Open this variant at every seed as a race, with all that was measured"
        open.onclick = () => this.component.setTriggerValue("open", table.places[i])
        row.append(element("td", {}, open))
      })
      this.table.replaceChildren(made)
    }
    if (this.sentences.children.length !== sentences.length)
      this.sentences.replaceChildren(...sentences.map(() => element("li")))
    sentences.forEach((text, i) => {
      setText(this.sentences.children[i], text)
    })
  }

  /**
   * The server draws the first steps, from records that the stream does not carry: it is told when a seed has them.
   * @param {number} variants
   */
  tellFirstSteps(variants) {
    const { cells, lanes, status } = this.going
    const past = Array.from({ length: lanes }, (_, place) => cells.reached(place)).filter((point) => point > 0).length
    const seeds = Math.floor(past / Math.max(1, variants))
    if (seeds <= this.seeds) return
    this.seeds = seeds
    if (status?.state === "running") this.component.setTriggerValue("action", "stepped")
  }

  close() {
    this.closed = true
    clearTimeout(this.timer)
    this.going.close()
    this.resized.disconnect()
    window.Plotly?.purge(this.chart)
  }
}

export default keptPage(".lab-four-steps", (root, component) => new FourStepsPage(root, component))
