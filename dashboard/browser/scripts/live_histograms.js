// @ts-check
// The charts of histograms: how large gradients or moments are, of all lanes at one step, by layer, and as ridges.
import { LiveChart } from "./live_chart.js"
import { escaped, shortNumber } from "./live_elements.js"

/** @import { Live } from "./live.js" */
/** @import { LaneHistory } from "./live_history.js" */
/** @import { Figure, Layout, Path, Trace, View } from "./types.d.ts" */

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
export class OverlayChart extends LiveChart {
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
export class LayerChart extends LiveChart {
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
    const xaxis = { type: "category", title: { text: "layers" } } // in whose row the export button stands
    return { data, layout: { xaxis, yaxis: { type: "log", title: { text: "gradient norm" } } } }
  }
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
export class RidgeChart extends LiveChart {
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
