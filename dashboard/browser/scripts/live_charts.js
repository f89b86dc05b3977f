// @ts-check
// The charts of a race: each is drawn once and then changed in place, and only while it is on the screen.
import { tellChart } from "./chart_access.js"
import { smoothed, thinned, upTo } from "./live_curves.js"
import { element, escaped, shortNumber } from "./live_elements.js"
import { shares } from "./live_shares.js"
import { fitted, plotConfig } from "./plot_parts.js"

/** @import { Live } from "./live.js" */
/** @import { LaneHistory } from "./live_history.js" */
/** @import { Axis, Figure, Layout, Meta, Panel, Path, PlotlyLibrary, Room, Series, Trace, Value, View } from "./types.d.ts" */

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
    const drawn = { ...trace, ...thinned(/** @type {Path} */ (series)), visible: shown }
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

/**
 * One line for each lane that is shown: `values(history)` gives x and y.
 * @param {Live} live
 * @param {(history: LaneHistory) => Pick<Trace, "x" | "y"> | undefined} values
 * @param {object} [settings]
 * @returns {Trace[]}
 */
function laneTraces(live, values, settings) {
  return live.runs.flatMap((run, r) =>
    run.lanes.flatMap((lane, k) => {
      if (live.hidden.has(`${r}:${k}`)) return []
      const series = values(run.history.lanes[k])
      if (!series) return []
      const meta = { run: r, lane: k }
      return [
        { type: "scatter", mode: "lines", name: escaped(lane.label), line: lane.line, meta, ...settings, ...series },
      ]
    }),
  )
}

/** All lanes at one step: how large their gradients, or moments, are. */
class OverlayChart extends LiveChart {
  /**
   * @override
   * @returns {Figure}
   */
  figure() {
    const { view } = this.live
    const data = laneTraces(this.live, (history) => {
      const histogram = history.histogramAt(this.live.chosenStep)
      return histogram && history.distribution(histogram, view.quantity, view.group)
    })
    for (const trace of data) trace.line = { ...trace.line, shape: "spline", smoothing: 0.6 }
    const xaxis = { title: { text: this.live.quantityAxis }, range: filledRange(data) }
    return { data, layout: { xaxis, yaxis: { title: { text: "share of the parameters" }, rangemode: "tozero" } } }
  }

  /** @override */
  words() {
    return medians(this.live)
  }
}

/** The gradient's norm from layer to layer at one step. */
class LayerChart extends LiveChart {
  /**
   * @override
   * @returns {Figure}
   */
  figure() {
    const data = laneTraces(
      this.live,
      (history) => {
        const histogram = history.histogramAt(this.live.chosenStep)
        return histogram && { x: histogram.groups, y: histogram.by_group.grad_norm ?? [] }
      },
      { mode: "lines+markers" },
    )
    return { data, layout: { xaxis: { type: "category" }, yaxis: { type: "log", title: { text: "gradient norm" } } } }
  }
}

/** The spread of psi, and below it how many parameters are not in it. */
class SpreadChart extends LiveChart {
  /**
   * @override
   * @param {number} width
   * @returns {Figure}
   */
  figure(width) {
    const figure = super.figure(width)
    const { annotations = [], ...layout } = figure.layout
    const lowest = Object.keys(layout).filter((name) => name.startsWith("yaxis")).length // the panel of `psi_across`
    const place = { xref: "x domain", yref: `y${lowest > 1 ? lowest : ""} domain`, x: 0.01, y: 0.03 }
    const [run] = this.live.runs
    const shown = run.history.lanes.filter((_, k) => !this.live.hidden.has(`0:${k}`))
    const text = leftOut(shown)
    const note = { ...place, text, showarrow: false, align: "left", xanchor: "left", yanchor: "bottom" }
    return { ...figure, layout: { ...layout, annotations: text ? [...annotations, note] : annotations } }
  }
}

/**
 * How many parameters the lanes' latest spread of psi leaves out, in words.
 * @param {LaneHistory[]} lanes
 */
export function leftOut(lanes) {
  const latest = lanes.map(({ histograms }) => histograms.at(-1)?.spread).filter((one) => one && "psi_across" in one)
  if (!latest.length) return ""
  /** @type {(name: string) => string} */
  const range = (name) => {
    const counts = latest.map((one) => one?.[name] ?? 0)
    const ends = [Math.min(...counts), Math.max(...counts)].map((count) => count.toLocaleString("en"))
    return [...new Set(ends)].join(" to ")
  }
  return `left out: ${range("rounding")} parameters with rounding<br>for a gradient, ${range("no_gradient")} with none so far`
}

const LETTER = 7 // pixels of a panel's title
const EXPORTED_LETTER = 8.6
const LEAST_LETTERS = 10 // of a lane's name
const RIDGES = 300 // pixels of a panel's height
const GAP = 46
const AROUND = 72
const LEAST_RIDGES = 90
const MOST_RIDGES = 24 // lanes in an exported figure
const NUMBER = 4.4 // letters of a number below a panel, with the air around it

/** Ridges: a panel for each lane on one axis of log10 |g|, step 1 at the back and time towards the reader. */
class RidgeChart extends LiveChart {
  /** Its panels' titles are its legend. @override */
  get lanes() {
    return false
  }

  /**
   * @override
   * @param {number} width
   * @param {number} [given] height
   * @returns {Figure}
   */
  figure(width, given) {
    const { live } = this
    const [run] = live.runs
    const steps = run.history.histogramSteps
    const lanes = run.lanes.map((lane, k) => ({ ...lane, k })).filter(({ k }) => !live.hidden.has(`0:${k}`))
    const columns = ridgeColumns(lanes.length, width, given)
    const rows = Math.max(1, Math.ceil(lanes.length / columns))
    // In an exported figure letters are larger than here; where a panel has no room for its lane's name, a legend has it.
    const letters = width / columns / (given ? EXPORTED_LETTER : LETTER)
    const titled = !given || letters >= LEAST_LETTERS
    const high = given ? Math.max(40, (given - AROUND + GAP) / rows - GAP) : RIDGES
    if (given && lanes.length > MOST_RIDGES)
      throw new Error(`the ridges of ${lanes.length} lanes have no room in one figure: hide all but ${MOST_RIDGES}`)
    const whole = rows * (high + GAP) - GAP
    /** @type {Layout} */
    const layout = { height: whole + AROUND, annotations: [], margin: { l: 44, r: 8, t: 28, b: 44 } }
    const ridges = lanes.map(({ k }) => ridgesOf(run.history.lanes[k], live.view, live.frozen ?? Infinity))
    const together = ridges.flatMap((own) => [...own.values()])
    const highest = Math.max(1e-9, ...together.map(({ y }) => Math.max(0, ...y)))
    const range = filledRange(together)
    const data = lanes.flatMap((lane, i) => {
      const suffix = i ? String(i + 1) : ""
      const [column, row] = [i % columns, Math.floor(i / columns)]
      const top = 1 - (row * (high + GAP)) / whole
      const domain = {
        x: [column / columns + 0.004, (column + 1) / columns - 0.004],
        y: [Math.max(0, top - high / whole), top],
      }
      layout[`xaxis${suffix}`] = {
        domain: domain.x,
        anchor: `y${suffix}`,
        range,
        nticks: 5,
        tickfont: { size: 11 },
        ...(given ? fewNumbers(range, width / columns, column) : {}),
      }
      layout[`yaxis${suffix}`] = {
        domain: domain.y,
        anchor: `x${suffix}`,
        range: [0.4 - Math.max(steps.length, 1), 2.4],
        tickvals: steps.map((_, j) => -j),
        ticktext: steps.map(String),
        showticklabels: column === 0,
        tickfont: { size: 11 },
        zeroline: false,
        automargin: false,
        ...(column === 0 && row === 0 ? { title: { text: "step", standoff: 2 } } : {}),
      }
      if (titled)
        layout.annotations.push({
          text: `<b>${escaped(shortened(lane.label, letters))}</b>`,
          font: { size: 12 },
          x: (domain.x[0] + domain.x[1]) / 2,
          y: domain.y[1],
          xref: "paper",
          yref: "paper",
          xanchor: "center",
          yanchor: "bottom",
          showarrow: false,
        })
      /** @type {Path} */
      const all = { x: [], y: [] }
      /** @type {Path} */
      const chosen = { x: [], y: [] }
      const at = run.history.lanes[lane.k].histogramAt(live.chosenStep)?.t
      for (const [t, ridge] of ridges[i])
        for (const path of t === at ? [all, chosen] : [all]) appendRidge(path, ridge, steps.indexOf(t), highest)
      const shared = {
        type: "scatter",
        mode: "lines",
        name: escaped(lane.label),
        showlegend: !titled,
        hoverinfo: "skip",
        fill: "toself",
        xaxis: `x${suffix}`,
        yaxis: `y${suffix}`,
        meta: { lane: lane.k },
      }
      const { color } = lane.line
      return [
        { ...shared, ...all, line: { color, width: 1 }, fillcolor: `${color}40` },
        { ...shared, ...chosen, line: { color, width: 2.5 }, fillcolor: `${color}90` },
      ]
    })
    layout.annotations.push({
      text: live.quantityAxis,
      x: 0.5,
      y: 0,
      yshift: -26,
      xref: "paper",
      yref: "paper",
      xanchor: "center",
      yanchor: "top",
      showarrow: false,
    })
    return { data, layout }
  }

  /** @override */
  words() {
    return medians(this.live)
  }
}

/**
 * Where the middle of each lane's histogram lies, at its first step and at the chosen one.
 * @param {Live} live
 */
export function medians(live) {
  const { quantity, group } = live.view
  const told = live.runs.flatMap((run, r) =>
    run.lanes.flatMap((lane, k) => {
      const history = run.history.lanes[k]
      const shown = [history.histograms[0], history.histogramAt(live.chosenStep)]
      if (live.hidden.has(`${r}:${k}`) || !shown[0]) return []
      const parts = shown.flatMap((one) => {
        const middle = one && medianOf(history.distribution(one, quantity, group))
        return one && middle !== undefined ? [`${shortNumber(Number(middle.toFixed(2)))} at step ${one.t}`] : []
      })
      return parts.length ? [`${lane.label} ${[...new Set(parts)].join(", ")}`] : []
    }),
  )
  return told.length ? `Median of log10 |${"gmv"[quantity]}|: ${told.join("; ")}.` : undefined
}

/**
 * Of a distribution: the place by which half of it has come.
 * @param {{ x: number[], y: number[] }} distribution
 */
export function medianOf({ x, y }) {
  const half = y.reduce((sum, share) => sum + share, 0) / 2
  let sum = 0
  return x.find((_, i) => (sum += y[i]) >= half)
}

/**
 * Whole numbers below a narrow panel, few enough not to touch; below every second or third panel where one is too wide.
 * @param {number[]} range
 * @param {number} width of the panel
 * @param {number} column
 */
function fewNumbers([low, high], width, column) {
  const fit = width / (NUMBER * EXPORTED_LETTER)
  const [first, last] = [Math.ceil(low), Math.floor(high)]
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, Math.floor(fit))))
  const start = fit < 2 ? Math.round((low + high) / 2) : first + Math.floor(((last - first) % every) / 2)
  const tickvals = Array.from({ length: Math.floor((last - start) / every) + 1 }, (_, i) => start + i * every)
  return {
    tickvals,
    ticktext: tickvals.map((value) => String(value).replace("-", "−")),
    tickangle: 0,
    showticklabels: column % Math.ceil(1 / fit) === 0,
  }
}

/**
 * Panels wide enough for their titles; where the height is given, more beside each other until they are high enough.
 * @param {number} lanes
 * @param {number} width
 * @param {number} [height]
 */
function ridgeColumns(lanes, width, height = Infinity) {
  let columns = Math.max(1, Math.min(lanes, Math.floor(width / 150)))
  while (columns < lanes && (height - AROUND + GAP) / Math.ceil(lanes / columns) - GAP < LEAST_RIDGES) columns++
  return columns
}

/**
 * A lane's distributions by their steps: it may have none yet where another has one.
 * @param {LaneHistory} history
 * @param {View} view
 * @param {number} last
 */
function ridgesOf(history, { quantity, group }, last) {
  const known = history.histograms.filter(({ t }) => t <= last)
  return new Map(known.map((own) => [own.t, history.distribution(own, quantity, group)]))
}

/**
 * A label that fits into so many letters.
 * @param {string} text
 * @param {number} most
 */
function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, Math.floor(most) - 1))}…`
}

/**
 * From a little before the first place where a curve stands above the axis to a little behind the last.
 * @param {Pick<Trace, "x" | "y">[]} curves
 */
export function filledRange(curves) {
  const filled = curves.flatMap(({ x, y }) => /** @type {number[]} */ (x).filter((_, i) => Number(y[i]) > 1e-3))
  return filled.length ? [Math.min(...filled) - 0.4, Math.max(...filled) + 0.4] : [-8, 1]
}

/**
 * Adds a ridge, closed along its base, to a path of others.
 * @param {Path} path
 * @param {{ x: number[], y: number[] }} ridge
 * @param {number} place
 * @param {number} highest
 */
export function appendRidge(path, { x, y }, place, highest) {
  if (!x.length) return
  const heights = y.map((share) => -place + (2.2 * share) / highest)
  if (path.x.length) {
    path.x.push(null)
    path.y.push(null)
  }
  path.x.push(x[0], ...x, x[x.length - 1])
  path.y.push(-place, ...heights, -place)
}

/** @type {Partial<Record<string, typeof LiveChart>>} */
export const CHARTS = { ridges: RidgeChart, overlay: OverlayChart, layers: LayerChart, variance: SpreadChart }
