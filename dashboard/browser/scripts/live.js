// @ts-check
// The live race: one event stream feeds every chart of the page.
import { exportable } from "./figure_source.js"
import { keptPage } from "./kept_page.js"
import { LiveChart } from "./live_chart.js"
import { CHARTS } from "./live_charts.js"
import { element } from "./live_elements.js"
import { sketch } from "./live_sketch.js"
import { standingOf } from "./live_standing.js"
import { Stream } from "./live_stream.js"
import { Tools } from "./live_tools.js"
import { Cards, Translations } from "./live_view.js"
import { loadPlotly } from "./plot_parts.js"
import { StatusBar } from "./status_bar.js"

/** @import { Component, Figure, Panel, PlotlyLibrary, RaceData, RaceMessage, Standing, Templates, Theme, View } from "./types.d.ts" */

const REDRAW_MS = 250
const PATIENCE_MS = 400 // for a run's first records, before plotly.js is started: one that is recorded has them at once
const VIEW = "radam-lab-view" // in the tab's storage: found again after another page or a reload

export class Live {
  /**
   * @param {HTMLElement} root
   * @param {Component} component of the latest rerun
   */
  constructor(root, component) {
    this.root = root
    this.component = component
    /** @type {View} */
    this.view = { lossAxis: "log", stepAxis: "linear", smoothing: 0.6, quantity: 0, group: "all", step: null }
    Object.assign(this.view, JSON.parse(sessionStorage.getItem(VIEW) ?? "{}"))
    /** @type {Set<string>} lanes as "run:lane" */
    this.hidden = new Set()
    /** @type {string[]} what the server was told to be hidden, and has not repeated yet */
    this.told = []
    this.said = "" // what the server said last, or was told, to be hidden
    /** @type {Stream[]} */
    this.runs = []
    this.together = false // all runs are one to the visitor: otherwise the second is only compared with
    /** @type {Map<string, LiveChart>} */
    this.charts = new Map()
    /** @type {Record<string, Figure>} */
    this.figures = {}
    this.plotlyUrl = ""
    this.captioned = { about: "", slug: "" }
    /** @type {number | null} a step that an exported figure shows the race at */
    this.frozen = null
    this.revision = ""
    /** @type {Theme} */
    this.theme = "light"
    /** @type {Templates} */
    this.templates = { light: { layout: {} }, dark: { layout: {} } }
    // A chart is drawn first when it comes near, and again only while it can be seen.
    this.observers = [
      new IntersectionObserver((entries) => this.sawCharts(entries, "near"), {
        rootMargin: "400px",
        scrollMargin: "400px",
      }),
      new IntersectionObserver((entries) => this.sawCharts(entries, "visible")),
    ]
    this.width = 0
    this.resized = new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width !== this.width) this.changed()
      this.width = contentRect.width
    })
    this.resized.observe(root)
    this.bar = new StatusBar(
      () => this.standing(),
      (action) => this.act(action),
    )
    this.cards = new Cards(this)
    this.tools = new Tools(this)
    this.translations = new Translations(this)
    this.main = element("div", { className: "lab-main" })
    this.grid = element("div", { className: "lab-grid" })
    this.lay()
    this.closed = false
    /** @type {number | undefined} */
    this.timer = undefined
    this.drawnAt = 0
    this.drawingTook = 0
    this.drawing = false
    this.again = false // something came while charts were being drawn
    this.hurried = false // and somebody waits for it
  }

  /**
   * Called with the same data after every rerun of the page; only what differs is touched.
   * @param {RaceMessage} message
   * @param {Theme} theme
   */
  update({ drawn, ...own }, theme) {
    /** @type {RaceData} */
    const data = { ...own, ...drawn, runs: own.runs.map((run, r) => ({ ...drawn.specs[r], ...run })) }
    this.templates = data.templates
    this.plotlyUrl = data.plotlyUrl
    this.theme = theme
    this.figures = data.figures
    this.together = data.together
    this.captioned = { about: data.about, slug: data.slug }
    const same = this.revision === data.revision
    this.revision = data.revision
    this.follow(data)
    this.hide(data.hidden, same)
    if (!same) this.build(data.panels)
    this.changed()
  }

  /**
   * A run that is followed already goes on; another one, or the same one trained again, gets a stream of its own. So
   * does one that has no id yet: its lanes may be others now.
   * @param {RaceData} data
   */
  follow(data) {
    for (const run of this.runs.slice(data.runs.length)) run.close()
    this.runs = data.runs.map((spec, r) => {
      const known = this.runs[r]
      if (spec.id && known?.id === spec.id && known.attempt === spec.attempt) return Object.assign(known, spec)
      known?.close()
      const stream = new Stream(this, data.base, spec, data.columns)
      stream.open()
      return stream
    })
  }

  /**
   * What the server says is hidden. Its echo of an earlier click comes late, and must not undo a later one.
   * @param {string[]} lanes
   * @param {boolean} same
   */
  hide(lanes, same) {
    const said = lanes.join()
    const echo = this.told.indexOf(said)
    this.told = this.told.slice(echo + 1)
    if (same && (echo >= 0 || said === this.said)) return
    this.said = said
    this.hidden = new Set(lanes)
  }

  /** @param {Panel[]} panels */
  build(panels) {
    /** @type {Map<string, LiveChart>} */
    const kept = new Map()
    for (const panel of panels) {
      const chart = this.charts.get(panel.name) ?? new (CHARTS[panel.name] ?? LiveChart)(this, panel)
      chart.panel = panel
      kept.set(panel.name, chart)
    }
    for (const [name, chart] of this.charts) if (!kept.has(name)) chart.close(window.Plotly)
    this.charts = kept
    this.cards.build()
    const [loss, ...rest] = panels
    this.main.replaceChildren(this.titled(loss, this.tools.ofLoss()))
    const sections = rest.map((panel) => this.titled(panel, this.tools.of(panel.tools)))
    this.grid.replaceChildren(...sections, this.translations.box)
    for (const chart of kept.values()) exportable(chart.node, chart) // also those that are not near yet
  }

  /**
   * Nodes of charts move with their section and are never made anew.
   * @param {Panel} panel
   * @param {Element | null} tools
   */
  titled(panel, tools) {
    const head = element(
      "div",
      { className: "lab-head" },
      element("span", { className: "lab-title", innerHTML: panel.title }),
    )
    if (tools) head.append(tools)
    const note = element("p", { className: "lab-note", innerHTML: panel.note })
    const chart = /** @type {LiveChart} */ (this.charts.get(panel.name))
    chart.section = element(
      "section",
      { className: panel.wide ? "lab-panel lab-wide" : "lab-panel" },
      head,
      chart.node,
      note,
    )
    return chart.section
  }

  lay() {
    const side = element("div", { className: "lab-side" }, this.cards.box)
    this.root.replaceChildren(this.bar.box, element("div", { className: "lab-top" }, this.main, side), this.grid)
  }

  get quantityAxis() {
    return `log<sub>10</sub> |${"gmv"[this.view.quantity]}|`
  }

  /** Whose histograms are shown; none is the latest. */
  get chosenStep() {
    const { frozen, view } = this
    return frozen === null ? view.step : Math.min(frozen, view.step ?? frozen)
  }

  get lost() {
    return this.runs.some((run) => run.lost)
  }

  /** The runs that the page's buttons are for. */
  get own() {
    return this.together ? this.runs : this.runs.slice(0, 1)
  }

  /** @returns {Standing} */
  standing() {
    const standing = standingOf(this.own)
    const { done, steps } = standing
    return { ...standing, progress: `step ${done} of ${steps}`, button: "Train", lost: this.lost }
  }

  /**
   * @param {Partial<View>} change
   * @param {string[]} [parts]
   */
  set(change, parts) {
    Object.assign(this.view, change)
    sessionStorage.setItem(VIEW, JSON.stringify(this.view))
    this.answer(parts)
  }

  /** @param {string} lane */
  toggleLane(lane) {
    if (!this.hidden.delete(lane)) this.hidden.add(lane)
    const hidden = [...this.hidden].sort()
    this.said = hidden.join()
    this.told.push(this.said)
    this.component.setTriggerValue("hidden", hidden)
    this.answer()
  }

  /**
   * A visitor who moves something does not wait for the next round.
   * @param {string[]} [parts]
   */
  answer(parts) {
    this.hurried = this.drawing
    if (!this.drawing) {
      clearTimeout(this.timer)
      this.timer = undefined
      this.drawnAt = Math.min(this.drawnAt, performance.now() - Math.max(REDRAW_MS, 3 * this.drawingTook) + 30)
    }
    this.changed(parts)
  }

  /**
   * @param {IntersectionObserverEntry[]} entries
   * @param {"near" | "visible"} how
   */
  sawCharts(entries, how) {
    for (const { target, isIntersecting } of entries)
      for (const chart of this.charts.values()) if (chart.node === target) chart[how] = isIntersecting
    this.schedule()
  }

  /**
   * Something arrived: drawn at once if the last drawing is long enough ago, else together with what comes meanwhile.
   * @param {string[]} parts
   */
  changed(parts = ["steps", "metrics", "histograms"]) {
    for (const chart of this.charts.values())
      chart.dirty ||= parts.some((part) => [chart.panel.redrawn_for, chart.panel.name].includes(part))
    this.schedule()
  }

  /** At most four times a second, and on a slow machine at most a quarter of its time. */
  schedule() {
    this.again = this.drawing
    if (this.drawing) return
    const pause = Math.max(REDRAW_MS, 3 * this.drawingTook)
    this.timer ??= setTimeout(() => this.draw(), Math.max(0, this.drawnAt + pause - performance.now()))
  }

  async draw() {
    this.drawing = true
    try {
      const waits = !window.Plotly // on a first visit for a second, in which much may have come
      if (waits) await this.sketch()
      const Plotly = await loadPlotly(this.plotlyUrl)
      if (waits) await painted()
      if (this.closed) return
      this.again = this.hurried = false // what came meanwhile is drawn now
      const started = performance.now()
      this.tell()
      const empty = this.runs.every((run) => !run.history.started)
      for (const chart of this.charts.values()) chart.section.hidden = empty && !chart.panel.shown_before
      const first = await this.drawCharts(Plotly)
      if (!first) this.drawingTook = performance.now() - started
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      this.bar.text.textContent = `The charts could not be drawn: ${message}. Reload the page to try again.`
      throw error
    } finally {
      this.drawnAt = this.hurried ? 0 : performance.now()
      this.timer = undefined
      this.drawing = this.hurried = false
      if (this.again && !this.closed) this.schedule()
    }
  }

  /** What is known without plotly.js, which then has the browser to itself for a second: cards, and the loss. */
  async sketch() {
    this.tell()
    const expected = () => this.runs.some((run) => run.id && !run.history.started && !run.ended)
    for (const until = performance.now() + PATIENCE_MS; expected() && performance.now() < until; ) await painted()
    this.tell()
    this.charts.get("loss")?.sketch(sketch)
    await Promise.race([
      new Promise((resolve) => requestAnimationFrame(resolve)),
      new Promise((resolve) => setTimeout(resolve, 50)),
    ])
    await painted()
  }

  /** All that needs no chart. */
  tell() {
    this.bar.draw()
    this.cards.draw()
    this.tools.draw()
    this.translations.draw()
  }

  /**
   * All at once where they are only changed. To make a chart takes many times as long: then each, from the loss on, is
   * shown before the next one is made. Tells whether one was made.
   * @param {PlotlyLibrary} Plotly
   */
  async drawCharts(Plotly) {
    let first = false
    for (const chart of [...this.charts.values()]) {
      if (this.closed || this.hurried) return first
      if (this.charts.get(chart.panel.name) !== chart) continue
      const making = !chart.node.dataset.drawn
      chart.draw(Plotly)
      if (!making || !chart.node.dataset.drawn) continue
      first = true
      this.mark()
      await painted()
    }
    if (!this.closed) this.mark()
    return first
  }

  /** What is on the screen, for those who wait for it. */
  mark() {
    const { own } = this
    Object.assign(this.root.dataset, {
      run: own
        .map((run) => run.id ?? "")
        .join(" ")
        .trim(),
      state: standingOf(own).status?.state ?? "",
      step: String(Math.min(...own.map(({ history }) => history.step))),
      frames: String(own.reduce((sum, { history }) => sum + history.count, 0)),
      ended: String(own.every((run) => run.ended)),
      connection: this.lost ? "lost" : "open",
    })
  }

  /** @param {string} action */
  act(action) {
    this.component.setTriggerValue("action", action)
  }

  /** @param {Stream} run */
  ended(run) {
    const { own } = this
    if (own.includes(run) && own.every(({ ended }) => ended) && own.some(({ seenActive }) => seenActive))
      this.act("ended")
  }

  close() {
    this.closed = true
    clearTimeout(this.timer)
    for (const run of this.runs) run.close()
    for (const observer of this.observers) observer.disconnect()
    this.resized.disconnect()
    for (const chart of this.charts.values()) chart.close(window.Plotly)
  }
}

/** The browser may show what was drawn so far. No animation frame: a tab in the background has none. */
const painted = () => new Promise((resolve) => setTimeout(resolve, 4))

export default keptPage(".lab-race", (root, component) => new Live(root, component))
