// @ts-check
// A run's history in the browser, lane by lane: records in, series out. Lanes may stand at different steps.
import { FINAL_STEPS, LossCourse } from "./live_loss.js"
import { unpackedCounts, unpackedPoints, unpackedRows } from "./live_records.js"

/** @import { Histogram, LaneRecord, Meta, Samples, Value } from "./types.d.ts" */

const LOG10_2 = Math.log10(2)
const BIN_OF_ONE = 127 // bin e counts 2^(e - 127) <= |x| < 2^(e - 126)

export class History {
  /**
   * @param {number} lanes how many
   * @param {number} lastStep of the run
   * @param {string[]} columns the names of what is recorded at every step
   */
  constructor(lanes, lastStep, columns) {
    this.lanes = Array.from({ length: lanes }, () => new LaneHistory(lastStep, columns))
  }

  /**
   * @param {number} place of the lane in the race
   * @param {LaneRecord} record
   * @returns {boolean} whether it was the one wanted
   */
  add(place, record) {
    return this.lanes[place].add(record)
  }

  /** What to ask the stream for: the number of each lane's next record. */
  get after() {
    return this.lanes.map(({ next }) => next).join(".")
  }

  /** How many records there are in all. */
  get count() {
    return this.lanes.reduce((sum, { next }) => sum + next, 0)
  }

  get started() {
    return this.count > 0
  }

  /** How far the race has come: where the last lane is that still has steps before it. */
  get step() {
    const going = this.lanes.filter(({ over }) => !over).map(({ step }) => step)
    return going.length ? Math.min(...going) : Math.max(...this.lanes.map(({ step }) => step))
  }

  get groups() {
    return this.lanes.find(({ groups }) => groups.length)?.groups ?? []
  }

  /** The steps at which at least one lane has a histogram. */
  get histogramSteps() {
    return [...new Set(this.lanes.flatMap(({ histograms }) => histograms.map(({ t }) => t)))].sort((a, b) => a - b)
  }
}

export class LaneHistory {
  /**
   * @param {number} lastStep
   * @param {string[]} columns
   */
  constructor(lastStep, columns) {
    this.lastStep = lastStep
    this.next = 0 // the number of the next record
    this.step = 0
    /** @type {number[]} */
    this.steps = []
    this.names = columns
    /** @type {Record<string, Value[]>} */
    this.columns = Object.fromEntries(columns.map((name) => [name, []]))
    /** @type {Partial<Record<string, { t: number[], values: Value[] }>>} */
    this.metrics = Object.create(null) // an own model may call one "constructor"
    /** @type {Histogram[]} */
    this.histograms = []
    /** @type {{ t: number, values: Value[] }[]} */
    this.sharpness = []
    /** @type {Value[][]} [i] = [x, y] */
    this.positions = []
    this.course = new LossCourse()
    /** @type {number | null} */
    this.divergedAt = null
    /** @type {Samples | null} */
    this.samples = null
  }

  /**
   * A record that is here already, after a reconnection, is passed over, and so is one that comes before its time.
   * @param {LaneRecord} record
   */
  add(record) {
    if (record.number !== this.next) return false
    this.next = record.number + 1
    this.step = record.last
    const { names } = this
    const [steps, ...columns] = unpackedRows(record.rows, 1 + names.length)
    this.steps.push(.../** @type {number[]} */ (steps))
    names.forEach((name, i) => this.columns[name].push(...columns[i]))
    this.course.add(/** @type {number[]} */ (steps), columns[names.indexOf("loss")])
    for (const [name, text] of Object.entries(record.told ?? {}))
      (this.columns[name] ??= []).push(...unpackedRows(text, 1)[0])
    if (record.positions) this.positions.push(...unpackedPoints(record.positions))
    for (const [t, measured] of Object.entries(record.metrics ?? {}))
      for (const [name, value] of Object.entries(measured)) {
        const metric = (this.metrics[name] ??= { t: [], values: [] })
        metric.t.push(Number(t))
        metric.values.push(value)
      }
    for (const histogram of record.histograms ?? []) {
      const groups = Object.entries(histogram.by_group).map(([name, text]) => [name, unpackedRows(text, 1)[0]])
      const by_group = Object.fromEntries(groups)
      const { layers = histogram.groups } = histogram // a task may know no finer ones
      const by_layer = histogram.by_layer ? unpackedRows(histogram.by_layer, 1)[0] : by_group.grad_norm
      this.histograms.push({ ...histogram, counts: unpackedCounts(histogram.counts), by_group, layers, by_layer })
    }
    for (const [t, values] of Object.entries(record.sharpness ?? {})) this.sharpness.push({ t: Number(t), values })
    this.divergedAt = record.diverged_at ?? null
    this.samples = record.samples ?? this.samples
    return true
  }

  /** Whether nothing follows. */
  get over() {
    return this.divergedAt !== null || this.step >= this.lastStep
  }

  get groups() {
    return this.histograms[0]?.groups ?? []
  }

  /**
   * What a trace's meta asks for (dashboard/figures/race.py), as x and y.
   * @param {Meta} meta
   * @param {string} group
   * @returns {{ x: Value[] | string[], y: Value[] }}
   */
  series(meta, group, last = Infinity) {
    const { of, column = "", place = 0 } = meta
    if (of === "sharpness") {
      const known = this.sharpness.filter(({ values }) => (values[place] ?? null) !== null) // the two take turns
      return { x: known.map(({ t }) => t), y: known.map(({ values }) => values[place]) }
    }
    if (of === "layers") {
      const { layers: x, by_layer: y } = this.histograms.find(({ t }) => t === meta.step && t <= last) ?? {
        layers: [],
        by_layer: [],
      }
      return { x, y }
    }
    if (column === "positions") {
      const places = this.positions.filter((_, i) => this.steps[i] <= last)
      const walked = places.length && meta.start ? [meta.start, ...places] : places
      return { x: walked.map(([x]) => x), y: walked.map(([, y]) => y) }
    }
    if (of === "metrics") return { x: this.metrics[column]?.t ?? [], y: this.metrics[column]?.values ?? [] }
    if (meta.grouped && group !== "all") {
      const at = this.groups.indexOf(group)
      return { x: this.histograms.map((h) => h.t), y: this.histograms.map((h) => h.by_group[column]?.[at] ?? null) }
    }
    if (of === "spread") {
      const measured = this.histograms.filter(({ spread }) => column in spread)
      return { x: measured.map(({ t }) => t), y: measured.map(({ spread }) => spread[column] ?? null) }
    }
    return { x: this.steps, y: this.columns[column] ?? [] }
  }

  /**
   * Whether it has diverged, by now or by a step.
   * @param {number | null} step
   */
  lostAt(step) {
    return this.divergedAt !== null && this.divergedAt <= (step ?? Infinity)
  }

  /**
   * The histogram of a step, or the latest before it; without a step, the latest. None of a lane that is lost by then.
   * @param {number | null} step
   */
  histogramAt(step) {
    if (this.divergedAt !== null && (step ?? Infinity) >= this.divergedAt) return undefined
    return step === null ? this.histograms.at(-1) : this.histograms.findLast(({ t }) => t <= step)
  }

  /**
   * The share of the coordinates in each power of two, against log10 of its middle. Zeros count in the whole.
   * @param {Histogram} histogram
   * @param {number} quantity
   * @param {string} group
   */
  distribution({ counts, groups }, quantity, group) {
    const first = quantity * groups.length
    const rows = counts.slice(first, first + groups.length).filter((_, i) => ["all", groups[i]].includes(group))
    const used = rows.filter((row) => row.counts.length)
    if (!used.length) return { x: [], y: [] }
    const low = Math.min(...used.map((row) => row.first)) - 1 // an empty bin on either side: the curve comes down
    const high = Math.max(...used.map((row) => row.first + row.counts.length))
    /** @type {number[]} */
    const sum = new Array(high - low + 1).fill(0)
    for (const row of used)
      row.counts.forEach((count, i) => {
        sum[row.first - low + i] += count
      })
    const total = sum.reduce((a, b) => a + b, 0) + rows.reduce((zeros, row) => zeros + row.zeros, 0)
    const x = sum.map((_, i) => (low + i + 0.5 - BIN_OF_ONE) * LOG10_2)
    return { x, y: sum.map((count) => count / total) }
  }

  /** @param {string} name */
  latestMetric(name) {
    return this.metrics[name]?.values.findLast((value) => value !== null) ?? null
  }

  /** The mean loss of the last steps, as the command line gives it; none where the lane was lost. */
  finalLoss() {
    const recent = this.lossOfLast(FINAL_STEPS)
    return this.divergedAt !== null || recent.includes(null) ? null : mean(recent)
  }

  /** @param {number} span */
  lossOfLast(span) {
    const first = this.steps.findIndex((t) => t > this.step - span)
    return first < 0 ? [] : this.columns.loss.slice(first)
  }
}

/** @param {Value[]} values */
function mean(values) {
  const numbers = values.filter((value) => value !== null)
  return numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : null
}
