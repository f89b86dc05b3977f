// A run's history in the browser: frames in, series by lane out, thinned and smoothed for drawing.
const MOST_POINTS = 2000
const LOG10_2 = Math.log10(2)
const COLUMNS = ["loss", "grad_norm", "update_rms", "relative_update"]
const QUANTITIES = 3 // g, m and v
const BIN_OF_ONE = 127 // bin e counts 2^(e - 127) <= |x| < 2^(e - 126)

// What dashboard/wire.py packs: base64 of float32, null for what is not finite ...
function unpacked(text) {
  return Array.from(new Float32Array(bytesOf(text).buffer), (value) => (Number.isFinite(value) ? value : null))
}

// ... or of whole numbers by sevens of bits: for each histogram its zeros, its first bin, how many bins, and those.
function unpackedCounts(text) {
  const bytes = bytesOf(text)
  let at = 0
  const next = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  const rows = []
  while (at < bytes.length) {
    const [zeros, first, size] = [next(), next(), next()]
    rows.push({ zeros, first, counts: Array.from({ length: size }, next) })
  }
  return rows
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

function inParts(values, size) {
  return Array.from({ length: values.length / size }, (_, i) => values.slice(i * size, (i + 1) * size))
}

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
    this.divergedAt = {} // lane -> step
    this.samples = null
  }

  // A frame that is here already, after a reconnection, is passed over.
  add(frame) {
    if (frame.number < this.next) return false
    this.next = frame.number + 1
    this.step = frame.last
    this.steps.push(...frame.steps)
    if (frame.steps.length)
      for (const name of COLUMNS) {
        const lanes = inParts(unpacked(frame[name]), frame.steps.length)
        this.columns[name] ??= lanes.map(() => [])
        lanes.forEach((values, lane) => this.columns[name][lane].push(...values))
      }
    if (frame.positions)
      inParts(inParts(unpacked(frame.positions), 2), frame.steps.length).forEach((points, lane) =>
        (this.positions[lane] ??= []).push(...points),
      )
    for (const [t, values] of Object.entries(frame.metrics ?? {}))
      for (const [name, lanes] of Object.entries(values)) {
        const metric = (this.metrics[name] ??= { t: [], lanes: lanes.map(() => []) })
        metric.t.push(Number(t))
        lanes.forEach((value, lane) => metric.lanes[lane].push(value))
      }
    for (const histogram of frame.histograms ?? [])
      this.histograms.push({ ...histogram, counts: unpackedCounts(histogram.counts) })
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
    const { counts, groups } = histogram
    const lanes = counts.length / QUANTITIES / groups.length
    const first = (quantity * lanes + lane) * groups.length
    const rows = counts.slice(first, first + groups.length).filter((_, i) => ["all", groups[i]].includes(group))
    const used = rows.filter((row) => row.counts.length)
    if (!used.length) return { x: [], y: [] }
    const low = Math.min(...used.map((row) => row.first)) - 1 // an empty bin on either side: the curve comes down
    const high = Math.max(...used.map((row) => row.first + row.counts.length))
    const sum = new Array(high - low + 1).fill(0)
    for (const row of used) row.counts.forEach((count, i) => (sum[row.first - low + i] += count))
    const total = sum.reduce((a, b) => a + b, 0) + rows.reduce((zeros, row) => zeros + row.zeros, 0)
    const x = sum.map((_, i) => (low + i + 0.5 - BIN_OF_ONE) * LOG10_2)
    return { x, y: sum.map((count) => count / total) }
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

// The part of a curve until a step; a step between two of its points is on the line between them.
function upTo({ x, y }, step) {
  const beyond = x.findIndex((t) => t > step)
  if (beyond < 0) return { x, y }
  const cut = { x: x.slice(0, beyond), y: y.slice(0, beyond) }
  const [before, after] = [y[beyond - 1], y[beyond]]
  if (cut.x.length && cut.x.at(-1) < step && before !== null && after !== null) {
    cut.x.push(step)
    cut.y.push(before + ((after - before) * (step - x[beyond - 1])) / (x[beyond] - x[beyond - 1]))
  }
  return cut
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
