// @ts-check
// The sweep page: maps that fill in as lanes are trained, and what follows from those that are done.
import { tellChart } from "./chart_access.js"
import { inked } from "./figure_maps.js"
import { sourceIn } from "./findings_parts.js"
import { keptPage } from "./kept_page.js"
import { element, setText } from "./live_elements.js"
import { loadPlotly, plotConfig } from "./plot_parts.js"
import { StatusBar } from "./status_bar.js"
import { SweepFindings } from "./sweep_findings.js"
import { CellKeys } from "./sweep_keys.js"
import { filledMaps } from "./sweep_maps.js"
import { SweepRun } from "./sweep_run.js"
import { SweepTools } from "./sweep_tools.js"

/** @import { Component, Figure, FigureSource, Findings, MapQuantity, Sweep, SweepMessage, Templates, Theme } from "./types.d.ts" */

const REDRAW_MS = 250
const MAPS = "Maps of the sweep, one a method: learning rates across, the other settings up"
const EVERY_CLICK = { doubleClick: false, doubleClickDelay: 1 } // two cells in quick succession are two clicks

export class SweepPage {
  /**
   * @param {HTMLElement} root
   * @param {Component} component
   */
  constructor(root, component) {
    this.root = root
    this.component = component
    /** @type {{ quantity: MapQuantity, rows: "mean" | "seeds", point: number | null, collect: boolean }} */
    this.view = { quantity: "loss", rows: "mean", point: null, collect: false } // no point: the latest
    /** @type {Set<number>} lanes */
    this.chosen = new Set()
    /** @type {SweepRun<Findings>} */
    this.going = new SweepRun("sweep", {
      changed: () => this.changed(),
      found: (found) => this.findings.show(found),
      ended: () => this.component.setTriggerValue("action", "ended"),
    })
    this.bar = new StatusBar(
      () => this.going.standing("Run"),
      (action) => this.component.setTriggerValue("action", action),
    )
    this.tools = new SweepTools(this)
    this.keys = new CellKeys(this)
    this.map = element("div", { className: "lab-plot lab-map", role: "figure", ariaLabel: MAPS })
    this.map.dataset.chart = "maps"
    this.needs = element("ul", { className: "lab-sentences" })
    this.findings = new SweepFindings(this)
    this.root.replaceChildren(this.bar.box, this.tools.box, this.keys.box, this.map, this.needs, this.findings.box)
    this.resized = new ResizeObserver(() => this.changed())
    this.resized.observe(this.map)
    this.closed = false
    /** @type {number | undefined} */
    this.timer = undefined
    this.drawnAt = 0
    this.drawingTook = 0
    this.clicks = false
  }

  /**
   * @param {SweepMessage} message
   * @param {Theme} theme
   */
  update(message, theme) {
    this.message = message
    /** @type {Templates} */
    this.templates = message.templates
    this.theme = theme
    this.plotlyUrl = message.plotlyUrl
    const other = this.sweep?.revision !== message.drawn.revision
    /** @type {Sweep} */
    this.sweep = message.drawn
    const { run } = message
    const again = this.run?.id !== run.id || this.run?.attempt !== run.attempt
    this.run = run
    if (other) {
      this.chosen.clear()
      this.tools.build()
    }
    if (other || again) this.going.follow(message.base, run, message.drawn.labels.length, message.drawn.grid.length)
    this.going.run = run
    this.changed()
  }

  get cells() {
    return this.going.cells
  }

  get found() {
    return this.going.found
  }

  /** The point of the runs that the maps show. */
  get point() {
    return this.view.point ?? this.cells.points - 1
  }

  /** @param {Partial<SweepPage["view"]>} change */
  set(change) {
    Object.assign(this.view, change)
    this.drawnAt = 0
    clearTimeout(this.timer)
    this.timer = undefined
    this.changed()
  }

  changed() {
    const pause = Math.max(REDRAW_MS, 3 * this.drawingTook)
    this.timer ??= setTimeout(() => this.draw(), Math.max(0, this.drawnAt + pause - performance.now()))
  }

  async draw() {
    try {
      const Plotly = await loadPlotly(String(this.plotlyUrl))
      if (this.closed || !this.sweep) return
      const started = performance.now()
      this.bar.draw()
      this.tools.draw()
      if (this.map.offsetWidth) await this.drawMaps(Plotly)
      this.drawingTook = performance.now() - started
      this.mark()
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      this.bar.text.textContent = `The charts could not be drawn: ${message}. Reload the page to try again.`
      throw error
    } finally {
      this.drawnAt = performance.now()
      this.timer = undefined
    }
  }

  /** @param {import("./types.d.ts").PlotlyLibrary} Plotly */
  async drawMaps(Plotly) {
    const sweep = /** @type {Sweep} */ (this.sweep)
    const figure = (this.view.rows === "seeds" && sweep.maps.seeds) || sweep.maps.mean
    const { data, layout } = filledMaps(figure, this.cells, {
      point: this.point,
      quantity: this.view.quantity,
      needs: this.found?.needs ?? [],
      chosen: this.chosen,
      sweep,
    })
    this.keys.mark({ data: /** @type {Figure["data"]} */ (data), layout })
    const letters = this.map.offsetWidth < 520 ? 11 : 13
    const drawn = {
      ...layout,
      template: this.templates?.[this.theme ?? "light"],
      autosize: true,
      font: { size: letters },
    }
    this.map.style.minHeight = `${layout.height}px`
    await Plotly.react(
      this.map,
      inked(/** @type {Figure["data"]} */ (data), drawn, this.map.offsetWidth, letters),
      drawn,
      plotConfig(Plotly, this.map, this.source("maps", "How forgiving is each method?", this.map), EVERY_CLICK),
    )
    tellChart(this.map, MAPS)
    this.map.classList.add("lab-chart")
    this.map.dataset.drawn = String(Number(this.map.dataset.drawn ?? 0) + 1)
    if (!this.clicks) {
      this.clicks = true
      const plot = /** @type {any} */ (this.map)
      plot.on("plotly_click", (/** @type {{ points: { data: object, pointIndex: number[] }[] }} */ event) => {
        const [{ data: clicked, pointIndex }] = event.points
        const { meta } = /** @type {{ meta: { cells?: number[][][] } }} */ (clicked)
        if (meta?.cells) this.pick(meta.cells[pointIndex[0]][pointIndex[1]])
      })
    }
  }

  /**
   * @param {string} name
   * @param {string} title
   * @param {HTMLElement} box
   * @returns {FigureSource}
   */
  source(name, title, box) {
    const message = /** @type {SweepMessage} */ (this.message)
    return sourceIn(message, this.theme ?? "light", name, title, box)
  }

  /** @param {number[]} places of the lanes of the cell that was clicked */
  pick(places) {
    if (!places.length || !this.run) return
    if (!this.view.collect) return this.open(places)
    const all = places.every((place) => this.chosen.has(place))
    for (const place of places) all ? this.chosen.delete(place) : this.chosen.add(place)
    this.set({})
  }

  /** @param {number[]} places */
  open(places) {
    this.component.setTriggerValue("open", places)
  }

  /** What is on the screen, for those who wait for it. */
  mark() {
    this.going.mark(this.root)
    this.root.dataset.took = this.drawingTook.toFixed(1)
    const sentences = this.found?.sentences ?? []
    if (this.needs.children.length !== sentences.length)
      this.needs.replaceChildren(...sentences.map(() => element("li")))
    sentences.forEach((text, i) => {
      setText(this.needs.children[i], text)
    })
  }

  close() {
    this.closed = true
    clearTimeout(this.timer)
    this.going.close()
    this.resized.disconnect()
    this.tools.close()
    this.findings.close()
    window.Plotly?.purge(this.map)
  }
}

export default keptPage(".lab-sweep", (root, component) => new SweepPage(root, component))
