// The charts of a race: each is drawn once and then changed in place, and only while it is on the screen.
class LiveChart {
  constructor(live, panel) {
    this.live = live
    this.panel = panel
    this.node = element("div", { className: "lab-plot", role: "img", ariaLabel: panel.alt })
    this.node.style.minHeight = `${panel.height}px`
    this.node.dataset.chart = panel.name
    this.dirty = true
    this.near = false
    this.visible = false
    live.observers.forEach((observer) => observer.observe(this.node))
  }

  draw(Plotly) {
    const due = this.visible || (this.near && !this.node.dataset.drawn)
    if (!this.dirty || !due || !this.node.isConnected || !this.node.offsetWidth) return
    this.dirty = false
    const { view, templates, theme, revision } = this.live
    const narrow = this.node.offsetWidth < 520
    const figure = this.figure(this.node.offsetWidth)
    const layout = {
      showlegend: false,
      height: this.panel.height,
      ...figure.layout,
      template: templates[theme],
      autosize: true,
      uirevision: `${revision}-${view.stepAxis}-${this.panel.name === "loss" ? view.lossAxis : ""}`,
      font: { size: narrow ? 11 : 13 },
    }
    const saved = { showlegend: true, font: { size: 15 } }
    const config = plotConfig(Plotly, this.node, `radam-lab-race-${this.panel.name}`, saved)
    this.node.style.minHeight = `${layout.height}px`
    Plotly.react(this.node, figure.data, layout, config)
    this.node.classList.add("lab-chart") // as still charts are called: every one on a page has been drawn
    this.node.dataset.drawn = String(Number(this.node.dataset.drawn ?? 0) + 1)
    this.node.dataset.points = String(Math.max(0, ...figure.data.map((trace) => (trace.meta ? trace.x.length : 0))))
  }

  // A figure that came from the server, with its traces filled.
  figure(width) {
    const { view, figures, runs } = this.live
    const { data, layout } = figures[this.panel.name]
    const drawn = structuredClone(layout)
    const filled = data.map((trace) => this.filled(trace))
    const empty = !filled.some((trace) => trace.x.length)
    const whole = empty || this.panel.of === "metrics" // a few points, or one, say little about where they lie
    if (this.panel.steps)
      for (const key of Object.keys(drawn).filter((name) => name.startsWith("xaxis"))) {
        drawn[key].type = view.stepAxis
        setRange(drawn[key], whole && (view.stepAxis === "log" ? [0, Math.log10(runs[0].steps)] : [0, runs[0].steps]))
      }
    if (this.panel.name === "loss") {
      drawn.yaxis.type = view.lossAxis
      setRange(drawn.yaxis, empty && (view.lossAxis === "log" ? [0, 0.7] : [0, 5]))
      drawn.showlegend = width >= 520 // on a telephone the cards are the legend
      drawn.legend = { font: { size: 12 } }
    }
    return { data: filled, layout: drawn }
  }

  filled(trace) {
    if (!trace.meta) return trace
    const { meta } = trace
    const { view, runs } = this.live
    const { history } = runs[meta.run ?? 0]
    const smoothing = view.smoothing
    if (meta.behind && !smoothing) return { ...trace, x: [], y: [] }
    let series = meta.of === "plan" ? upTo(trace, history.step) : history.series(meta, view.group)
    if (meta.smooth) series = smoothed(series, smoothing)
    const shown = !this.live.hidden.has(`${meta.run ?? 0}:${meta.lane}`)
    return { ...trace, ...thinned(series), visible: shown }
  }

  close(Plotly) {
    this.live.observers.forEach((observer) => observer.unobserve(this.node))
    Plotly?.purge(this.node)
  }
}

// A range for an axis without data, or none. Both are said: Plotly does not return to its own range by itself.
function setRange(axis, range) {
  Object.assign(axis, range ? { range, autorange: false } : { autorange: true })
}

// One line for each lane that is shown: `values(run, lane)` gives x and y.
function laneTraces(live, values, settings) {
  return live.runs.flatMap((run, r) =>
    run.lanes.flatMap((lane, k) => {
      if (live.hidden.has(`${r}:${k}`)) return []
      const series = values(run, k)
      if (!series) return []
      const meta = { run: r, lane: k }
      return [{ type: "scatter", mode: "lines", name: escaped(lane.label), line: lane.line, meta, ...settings, ...series }]
    }),
  )
}

// All lanes at one step: how large their gradients, or moments, are.
class OverlayChart extends LiveChart {
  figure() {
    const { view } = this.live
    const data = laneTraces(this.live, (run, k) => {
      const histogram = this.live.histogramAt(run)
      return histogram && run.history.distribution(histogram, view.quantity, k, view.group)
    })
    for (const trace of data) trace.line = { ...trace.line, shape: "spline", smoothing: 0.6 }
    const xaxis = { title: { text: this.live.quantityAxis }, range: filledRange(data) }
    return { data, layout: { xaxis, yaxis: { title: { text: "share of the parameters" }, rangemode: "tozero" } } }
  }
}

// The gradient's norm from layer to layer at one step.
class LayerChart extends LiveChart {
  figure() {
    const data = laneTraces(
      this.live,
      (run, k) => {
        const histogram = this.live.histogramAt(run)
        return histogram && { x: histogram.groups, y: histogram.group_norms[k] }
      },
      { mode: "lines+markers" },
    )
    return { data, layout: { xaxis: { type: "category" }, yaxis: { type: "log", title: { text: "gradient norm" } } } }
  }
}

const RIDGES = 300 // pixels of a panel's height
const GAP = 46

// Ridges: a panel for each lane on one axis of log10 |g|, step 1 at the back and time towards the reader.
class RidgeChart extends LiveChart {
  figure(width) {
    const { live } = this
    const [run] = live.runs
    const steps = run.history.histograms
    const lanes = run.lanes.map((lane, k) => ({ ...lane, k })).filter(({ k }) => !live.hidden.has(`0:${k}`))
    const columns = Math.max(1, Math.min(lanes.length, Math.floor(width / 150)))
    const rows = Math.max(1, Math.ceil(lanes.length / columns))
    const height = rows * (RIDGES + GAP) - GAP + 72
    const layout = { height, annotations: [], margin: { l: 44, r: 8, t: 28, b: 44 } }
    const ridges = lanes.map(({ k }) =>
      steps.map((step) => run.history.distribution(step, live.view.quantity, k, live.view.group)),
    )
    const highest = Math.max(1e-9, ...ridges.flat().map(({ y }) => Math.max(0, ...y)))
    const [low, high] = filledRange(ridges.flat())
    const data = lanes.flatMap((lane, i) => {
      const suffix = i ? String(i + 1) : ""
      const [column, row] = [i % columns, Math.floor(i / columns)]
      const top = 1 - (row * (RIDGES + GAP)) / (rows * (RIDGES + GAP) - GAP)
      const domain = {
        x: [column / columns + 0.004, (column + 1) / columns - 0.004],
        y: [Math.max(0, top - RIDGES / (rows * (RIDGES + GAP) - GAP)), top],
      }
      layout[`xaxis${suffix}`] = {
        domain: domain.x,
        anchor: `y${suffix}`,
        range: [low, high],
        nticks: 5,
        tickfont: { size: 11 },
      }
      layout[`yaxis${suffix}`] = {
        domain: domain.y,
        anchor: `x${suffix}`,
        range: [0.4 - Math.max(steps.length, 1), 2.4],
        tickvals: steps.map((_, j) => -j),
        ticktext: steps.map(({ t }) => String(t)),
        showticklabels: column === 0,
        tickfont: { size: 11 },
        zeroline: false,
        automargin: false,
        ...(column === 0 && row === 0 ? { title: { text: "step", standoff: 2 } } : {}),
      }
      layout.annotations.push({
        text: `<b>${escaped(lane.label)}</b>`,
        font: { color: lane.line.color, size: 12 },
        x: (domain.x[0] + domain.x[1]) / 2,
        y: domain.y[1],
        xref: "paper",
        yref: "paper",
        xanchor: "center",
        yanchor: "bottom",
        showarrow: false,
      })
      const all = { x: [], y: [] }
      ridges[i].forEach((ridge, j) => appendRidge(all, ridge, j, highest))
      const chosen = { x: [], y: [] }
      const at = live.histogramIndex(run)
      if (at >= 0) appendRidge(chosen, ridges[i][at], at, highest)
      const shared = {
        type: "scatter",
        mode: "lines",
        name: escaped(lane.label),
        showlegend: false,
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
}

function filledRange(ridges) {
  const filled = ridges.flatMap(({ x, y }) => x.filter((_, i) => y[i] > 1e-3))
  return filled.length ? [Math.min(...filled) - 0.4, Math.max(...filled) + 0.4] : [-8, 1]
}

function appendRidge(path, { x, y }, place, highest) {
  if (!x.length) return
  const heights = y.map((share) => -place + (2.2 * share) / highest)
  if (path.x.length) (path.x.push(null), path.y.push(null))
  path.x.push(x[0], ...x, x.at(-1))
  path.y.push(-place, ...heights, -place)
}

const CHARTS = { ridges: RidgeChart, overlay: OverlayChart, layers: LayerChart }
