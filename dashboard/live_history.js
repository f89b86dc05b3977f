// A run's history in the browser: frames in, series by lane out, thinned and smoothed for drawing.
const MOST_POINTS = 2000
const LOG10_2 = Math.log10(2)

class History {
  constructor() {
    this.clear()
  }

  clear() {
    this.next = 0 // the number of the next frame
    this.step = 0
    this.steps = []
    this.columns = {} // name -> [lane][i]
    this.metrics = {} // name -> {t: [i], lanes: [lane][i]}
    this.histograms = []
    this.positions = [] // [lane][i] = [x, y]
    this.status = []
    this.divergedAt = []
    this.samples = null
  }

  // A frame that is here already, after a reconnection, is passed over.
  add(frame) {
    if (frame.number < this.next) return false
    this.next = frame.number + 1
    this.step = frame.last
    this.steps.push(...frame.steps)
    for (const [name, lanes] of Object.entries(frame)) {
      if (!Array.isArray(lanes) || !Array.isArray(lanes[0]) || ["positions", "samples"].includes(name)) continue
      this.columns[name] ??= lanes.map(() => [])
      lanes.forEach((values, lane) => this.columns[name][lane].push(...values))
    }
    ;(frame.positions ?? []).forEach((points, lane) => (this.positions[lane] ??= []).push(...points))
    for (const [t, values] of Object.entries(frame.metrics ?? {}))
      for (const [name, lanes] of Object.entries(values)) {
        const metric = (this.metrics[name] ??= { t: [], lanes: lanes.map(() => []) })
        metric.t.push(Number(t))
        lanes.forEach((value, lane) => metric.lanes[lane].push(value))
      }
    this.histograms.push(...(frame.histograms ?? []))
    this.status = frame.status
    this.divergedAt = frame.diverged_at
    this.samples = frame.samples ?? this.samples
    return true
  }

  // What a trace's meta asks for (dashboard/figures/race.py), as x and y.
  series(meta, group) {
    const { of, column, lane } = meta
    if (column === "positions") {
      const points = this.positions[lane] ?? []
      return { x: points.map((p) => p[0]), y: points.map((p) => p[1]) }
    }
    if (of === "metrics") return { x: this.metrics[column]?.t ?? [], y: this.metrics[column]?.lanes[lane] ?? [] }
    if (meta.grouped && group !== "all") {
      const at = this.groups.indexOf(group)
      return { x: this.histograms.map((h) => h.t), y: this.histograms.map((h) => h.group_norms[lane][at]) }
    }
    if (of === "histograms")
      return { x: this.histograms.map((h) => h.t), y: this.histograms.map((h) => h[column][lane]) }
    return { x: this.steps, y: this.columns[column]?.[lane] ?? [] }
  }

  get groups() {
    return this.histograms[0]?.groups ?? []
  }

  // The share of a lane's coordinates in each power of two, against log10 of its middle. Zeros count in the whole.
  distribution(histogram, quantity, lane, group) {
    const counts = histogram.counts[quantity][lane]
    const zeros = histogram.zeros[quantity][lane]
    const chosen = group === "all" ? counts.map((_, i) => i) : [histogram.groups.indexOf(group)]
    const sum = new Array(counts[0].length).fill(0)
    let total = 0
    for (const g of chosen) {
      total += zeros[g]
      counts[g].forEach((count, i) => {
        sum[i] += count
        total += count
      })
    }
    const x = sum.map((_, i) => (histogram.first_bin + i + 0.5 - 127) * LOG10_2)
    return { x, y: sum.map((count) => count / Math.max(total, 1)) }
  }

  latest(column, lane) {
    return lastNumber(this.columns[column]?.[lane] ?? [])
  }

  latestMetric(name, lane) {
    return lastNumber(this.metrics[name]?.lanes[lane] ?? [])
  }

  // The mean loss of the last `span` steps, once there are that many.
  recentLoss(lane, span) {
    if (this.step < span) return null
    const losses = this.columns.loss?.[lane] ?? []
    const first = this.steps.findIndex((t) => t > this.step - span)
    const recent = losses.slice(first).filter((value) => value !== null)
    return recent.length ? recent.reduce((a, b) => a + b, 0) / recent.length : null
  }
}

function lastNumber(values) {
  for (let i = values.length - 1; i >= 0; i--) if (values[i] !== null) return values[i]
  return null
}

// Two points for each stretch of the curve, its lowest and its highest, so that no spike is lost. Always new arrays:
// Plotly knows by them that something is new, and the history's own go on growing.
function thinned({ x, y }, most = MOST_POINTS) {
  if (x.length <= most) return { x: x.slice(), y: y.slice() }
  const size = x.length / (most / 2)
  const kept = { x: [], y: [] }
  for (let start = 0; start < x.length; start += size) {
    const from = Math.floor(start)
    const to = Math.min(Math.floor(start + size), x.length)
    let low = -1
    let high = -1
    for (let i = from; i < to; i++) {
      if (y[i] === null) continue
      if (low < 0 || y[i] < y[low]) low = i
      if (high < 0 || y[i] > y[high]) high = i
    }
    const pair = low < 0 ? [from] : low === high ? [low] : [Math.min(low, high), Math.max(low, high)]
    for (const i of pair) {
      kept.x.push(x[i])
      kept.y.push(y[i])
    }
  }
  return kept
}

// An exponential average that starts unbiased, as Adam's does.
function smoothed({ x, y }, weight) {
  if (!weight) return { x, y }
  let average = 0
  let seen = 0
  const out = y.map((value) => {
    if (value === null) return null
    average = weight * average + (1 - weight) * value
    seen += 1
    return average / (1 - weight ** seen)
  })
  return { x, y: out }
}
