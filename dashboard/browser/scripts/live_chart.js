// @ts-check
// A chart of a race: drawn once and then changed in place, and only while it is on the screen.
import { tellChart } from "./chart_access.js"
import { smoothed, thinned, upTo } from "./live_curves.js"
import { element } from "./live_elements.js"
import { shares } from "./live_shares.js"
import { fitted, plotConfig } from "./plot_parts.js"

/** @import { Live } from "./live.js" */
/** @import { Axis, Figure, Layout, Meta, Panel, Path, PlotlyLibrary, Room, Series, Trace, Value } from "./types.d.ts" */

export const MOST_IN_LEGEND = 8 // lanes
const TOGETHER = ["loss", "ridges"] // in a moving figure

export class LiveChart {
  /**
   * @param {Live} live
   * @param {Panel} panel
   */
  constructor(live, panel) {
    this.live = live
    this.panel = panel
    this.node = element("div", { className: "lab-plot", role: "figure", ariaLabel: panel.alt })
    this.node.style.minHeight = `${fitted(panel.height)}px`
    this.node.dataset.chart = panel.name
    this.dirty = true
    this.near = false
    this.visible = false
    this.section = element("section")
    for (const observer of live.observers) observer.observe(this.node)
  }

  /** @param {PlotlyLibrary} Plotly */
  draw(Plotly) {
    const due = this.visible || (this.near && this.drawnRevision !== this.live.revision)
    if (!this.dirty || !due || !this.node.isConnected || !this.node.offsetWidth) return
    this.dirty = false
    const { view, templates, theme, revision } = this.live
    this.drawnRevision = revision
    const narrow = this.node.offsetWidth < 520
    const figure = this.figure(this.node.offsetWidth)
    const layout = {
      showlegend: false,
      height: fitted(this.panel.height),
      ...figure.layout,
      template: templates[theme],
      autosize: true,
      uirevision: `${revision}-${view.stepAxis}-${this.panel.name === "loss" ? view.lossAxis : ""}`,
      font: { size: narrow ? 11 : 13 },
    }
    const config = plotConfig(Plotly, this.node, this)
    this.node.style.minHeight = `${layout.height}px`
    this.node.querySelector(".lab-sketch")?.remove()
    Plotly.react(this.node, figure.data, layout, config)
    tellChart(this.node, this.panel.alt, { words: this.words() })
    this.node.classList.add("lab-chart") // as still charts are called: every one on a page has been drawn
    this.node.dataset.drawn = String(Number(this.node.dataset.drawn ?? 0) + 1)
    const measured = figure.data.filter(({ meta }) => meta && !meta.again && meta.of !== "limit")
    this.node.dataset.points = String(Math.max(0, ...measured.map(({ x }) => x.length)))
  }

  /**
   * Until it is drawn.
   * @param {typeof import("./live_sketch.js").sketch} sketch
   */
  sketch(sketch) {
    const { offsetWidth: width, dataset } = this.node
    const { templates, theme } = this.live
    const figure = this.figure(width)
    const points = Math.max(0, ...figure.data.filter(({ meta }) => meta && !meta.again).map(({ x }) => x.length))
    if (!width || !points || dataset.drawn) return
    this.node.replaceChildren(sketch(figure, { width, height: this.panel.height }, templates[theme].layout))
    dataset.sketched = String(points)
  }

  /**
   * What it shows, where its numbers are not those of its curves.
   * @returns {string | undefined}
   */
  words() {
    return undefined
  }

  // What an exported figure is made of (figure_source.js).

  get name() {
    return this.panel.name
  }

  get title() {
    return this.panel.title
  }

  get about() {
    return this.live.captioned.about
  }

  get slug() {
    return this.live.captioned.slug
  }

  get templates() {
    return this.live.templates
  }

  get theme() {
    return this.live.theme
  }

  get plotlyUrl() {
    return this.live.plotlyUrl
  }

  get lanes() {
    return true
  }

  /** @param {Room} room */
  now({ width, height }) {
    return this.zoomed(this.figure(width, height))
  }

  last() {
    return Math.max(...this.live.runs.map(({ history }) => history.step))
  }

  /**
   * @param {number} step
   * @param {Room} room
   */
  at(step, room) {
    this.live.frozen = step
    try {
      return this.now(room)
    } finally {
      this.live.frozen = null
    }
  }

  /** None of a chart that shows certain steps, and so stands still. */
  get moments() {
    const { data = [] } = this.live.figures[this.name] ?? {}
    return data.some(({ meta }) => meta?.of === "layers") ? undefined : this.grown
  }

  /**
   * The chart as it grew; a race's loss and the ridges of its gradients grow beside each other.
   * @param {number} most
   */
  grown(most) {
    const { charts, view } = this.live
    const [loss, ridges] = TOGETHER.map((name) => charts.get(name))
    const shown = TOGETHER.includes(this.name) && loss && ridges ? [loss, ridges] : [this]
    const last = this.last()
    /** @type {(i: number) => number} */
    const step = (i) => Math.round(view.stepAxis === "log" ? last ** (i / most) : (last * i) / most)
    const steps = [...new Set(Array.from({ length: most }, (_, i) => Math.max(1, step(i + 1))))]
    return steps.map(
      (at) => (/** @type {Room} */ room) =>
        shown.map((chart) => ({ title: chart.title, lanes: chart.lanes, figure: chart.at(at, room) })),
    )
  }

  /**
   * As far as the visitor has zoomed in.
   * @param {Figure} figure
   */
  zoomed({ data, layout }) {
    const drawn = /** @type {Partial<Figure>} */ (this.node).layout ?? {}
    const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name) && drawn[name]?.autorange === false)
    const own = axes.map((name) => [name, { ...layout[name], range: drawn[name].range, autorange: false }])
    return { data, layout: { ...layout, ...Object.fromEntries(own) } }
  }

  /**
   * A figure that came from the server, with its traces filled.
   * @param {number} width
   * @param {number} [_height] that an exported figure has; on the page a chart has its own
   * @returns {Figure}
   */
  figure(width, _height) {
    const { view, figures, runs } = this.live
    const { data, layout } = figures[this.panel.name]
    const drawn = structuredClone(layout)
    const filled = data.map((trace) => this.filled(trace))
    const empty = !filled.some((trace) => trace.x.length)
    const whole = empty || this.panel.redrawn_for === "metrics" // a few points, or one, say little about where they lie
    if (this.panel.steps)
      for (const key of Object.keys(drawn).filter((name) => name.startsWith("xaxis"))) {
        drawn[key].type = view.stepAxis
        setRange(drawn[key], whole && (view.stepAxis === "log" ? [0, Math.log10(runs[0].steps)] : [0, runs[0].steps]))
      }
    if (this.panel.name === "loss") {
      for (const key of Object.keys(drawn).filter((name) => name.startsWith("yaxis"))) {
        drawn[key].type = view.lossAxis
        setRange(drawn[key], empty && (view.lossAxis === "log" ? [0, 0.7] : [0, 5]))
      }
      // On a telephone, and where its rows would leave little of the chart, the cards are the legend.
      drawn.showlegend &&= width >= 520 && runs.flatMap((run) => run.lanes).length <= MOST_IN_LEGEND
      drawn.legend = { ...drawn.legend, font: { size: 12 } }
    }
    return { data: [...filled, ...this.sharedPieces(filled, drawn, width)], layout: drawn }
  }

  /**
   * @param {Trace} trace
   * @returns {Trace}
   */
  filled(trace) {
    const { meta } = trace
    if (!meta) return trace
    const { view, runs, frozen } = this.live
    const shown = !this.live.hidden.has(`${meta.run ?? 0}:${meta.lane}`)
    if (meta.of === "limit") return { ...trace, visible: shown }
    const lane = runs[meta.run ?? 0].history.lanes[meta.lane]
    const smoothing = view.smoothing
    if (meta.behind && !smoothing) return { ...trace, x: [], y: [] }
    const plan = /** @type {Series} */ (trace)
    let series = meta.of === "plan" ? upTo(plan, lane.step) : lane.series(meta, view.group, frozen ?? undefined)
    if (meta.smooth) series = smoothed(/** @type {Series} */ (series), smoothing)
    if (frozen !== null && this.panel.steps) series = upTo(/** @type {Series} */ (series), frozen)
    const told = meta.smooth ? { ...meta, smooth: smoothing > 0 } : meta
    const drawn = { ...trace, meta: told, ...thinned(/** @type {Path} */ (series)), visible: shown }
    return meta.start && lane.lostAt(frozen) ? withCross(drawn) : drawn
  }

  /**
   * What is drawn again above the curves so that those that coincide are all seen (live_shares.js), panel by panel.
   * @param {Trace[]} traces
   * @param {Layout} layout
   * @param {number} width
   * @returns {Trace[]}
   */
  sharedPieces(traces, layout, width) {
    if (!this.panel.steps) return []
    const curves = /** @type {(Trace & Series & { meta: Meta })[]} */ (
      traces.filter(
        ({ meta, visible, x }) => meta && !meta.behind && meta.of !== "limit" && visible !== false && x.length > 1,
      )
    )
    const axes = [...new Set(curves.map(({ yaxis }) => yaxis ?? "y"))]
    return axes.flatMap((name) => {
      const own = curves.filter(({ yaxis }) => (yaxis ?? "y") === name)
      const part = extentOf(layout[(own[0].xaxis ?? "x").replace("x", "xaxis")])
      const [onX, onY] = [scaleOf(this.live.view.stepAxis), scaleOf(layout[name.replace("y", "yaxis")].type)]
      const pieces = shares(
        own.map(({ x, y }) => /** @type {Series} */ ({ x: x.map(onX.to), y: y.map(onY.to) })),
        width * part,
        this.panel.height * extentOf(layout[name.replace("y", "yaxis")]),
      )
      const thickest = Math.max(...own.map(({ line }) => line.width))
      return own.flatMap(({ name, xaxis, yaxis, line, meta }, k) => {
        const [x, y] = [pieces[k].x.map(onX.from), pieces[k].y.map(onY.from)]
        if (!x.length) return []
        const again = {
          type: "scatter",
          mode: "lines",
          hoverinfo: "skip",
          showlegend: false,
          meta: { ...meta, again: true },
        }
        /** @type {(color: string, width: number) => Trace} */
        const stroke = (color, width) => ({
          ...again,
          name,
          xaxis,
          yaxis,
          x,
          y,
          line: { color, width, simplify: false },
        })
        // Two lanes may have one colour and differ in their dash: one that is dashed is hollow here.
        const hollow = line.dash === "solid" ? [] : [stroke(this.background, 0.4 * thickest)]
        return [stroke(line.color, thickest), ...hollow]
      })
    })
  }

  get background() {
    return this.live.templates[this.live.theme].layout.paper_bgcolor
  }

  /** @param {PlotlyLibrary} [Plotly] */
  close(Plotly) {
    for (const observer of this.live.observers) observer.unobserve(this.node)
    Plotly?.purge(this.node)
  }
}

/**
 * From an axis's values to those of a linear one, and back; null for what it cannot show.
 * @param {string} [type]
 * @returns {{ to(value: Value): Value, from(value: Value): Value }}
 */
export function scaleOf(type) {
  /** @type {(value: Value) => Value} */
  const finite = (value) => (value !== null && Number.isFinite(value) ? value : null)
  if (type !== "log") return { to: finite, from: (value) => value }
  return {
    to: (value) => (value !== null && value > 0 ? finite(Math.log10(value)) : null),
    from: (value) => (value === null ? null : Math.fround(10 ** value)), // as the data: equal values stay equal
  }
}

/**
 * Which part of the chart's width, or height, an axis takes.
 * @param {Axis} [axis]
 */
function extentOf(axis) {
  const [low, high] = axis?.domain ?? [0, 1]
  return high - low
}

/**
 * A walk with a cross at its last point.
 * @param {Trace} trace
 * @returns {Trace}
 */
export function withCross(trace) {
  const end = trace.y.findLastIndex((value) => value !== null)
  const size = trace.y.map((_, i) => (i === end ? 12 : 0))
  return { ...trace, mode: "lines+markers", marker: { symbol: "x", size, opacity: 1, color: trace.line.color } }
}

/**
 * A range for an axis without data, or none. Both are said: Plotly does not return to its own range by itself.
 * @param {Axis} axis
 * @param {number[] | false} range
 */
function setRange(axis, range) {
  Object.assign(axis, range ? { range, autorange: false } : { autorange: true })
}
