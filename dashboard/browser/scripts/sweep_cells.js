// @ts-check
// A sweep's cells as numbers: what each lane's loss was at every point of the run, and what a map makes of several.

/** @import { CellNews, MapQuantity, Value } from "./types.d.ts" */

/** The losses and metrics of all lanes, by point; what comes twice changes nothing. */
export class Cells {
  /**
   * @param {number} size how many lanes there are
   * @param {number} points how many each has when it is done
   */
  constructor(size, points) {
    this.points = points
    /** @type {Value[][]} */
    this.losses = Array.from({ length: size }, () => [])
    /** @type {Value[][]} */
    this.metrics = Array.from({ length: size }, () => [])
    /** @type {boolean[]} */
    this.diverged = Array(size).fill(false)
  }

  /** @param {CellNews[]} news */
  add(news) {
    for (const [place, point, loss, metric] of news) {
      if (loss === null) this.diverged[place] = true
      this.losses[place][point] = loss
      this.metrics[place][point] = metric
    }
  }

  /** @param {number} place */
  reached(place) {
    return this.losses[place].length - 1
  }

  /** @param {number} place */
  over(place) {
    return this.diverged[place] || this.losses[place].length >= this.points
  }

  get done() {
    return this.losses.filter((_, place) => this.over(place)).length
  }

  /** The furthest point that any lane has come to. */
  get latest() {
    return Math.max(0, ...this.losses.map((losses) => losses.length - 1))
  }

  /**
   * A lane's value at a point, or at the last one it has come to: null if it diverged, undefined if it has not begun.
   * @param {number} place
   * @param {number} point
   * @param {"losses" | "metrics"} of
   */
  at(place, point, of) {
    const values = this[of][place]
    return values.length ? values[Math.min(point, values.length - 1)] : undefined
  }

  /**
   * What a map shows for the lanes of one cell: their mean, or the share of them that have learned. `lost` counts those
   * that diverged; null while none has begun.
   * @param {number[]} places
   * @param {number} point
   * @param {MapQuantity} quantity
   * @param {(place: number) => number | null} learnedBelow
   */
  summary(places, point, quantity, learnedBelow) {
    const begun = places.filter((place) => this.losses[place].length)
    if (!begun.length) return null
    const of = quantity === "metric" ? "metrics" : "losses"
    const values = begun.map((place) => this.at(place, point, of) ?? null)
    const lost = begun.filter((place) => this.at(place, point, "losses") === null).length
    if (quantity === "learned") {
      const learned = begun.filter((place) => {
        const loss = this.at(place, point, "losses")
        const below = learnedBelow(place)
        return typeof loss === "number" && below !== null && loss < below
      })
      return { value: learned.length / begun.length, lost, values }
    }
    const known = values.filter((value) => value !== null)
    return { value: known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null, lost, values }
  }
}

/**
 * The ends of a colour scale that moves seldom: the data's own, to the next half of a power of ten.
 * @param {number[]} values log10
 * @returns {[number, number]}
 */
export function halfDecades(values) {
  if (!values.length) return [-2, 0.5]
  const low = Math.floor(2 * Math.min(...values)) / 2
  const high = Math.ceil(2 * Math.max(...values)) / 2
  return [Math.max(low, high - 4), Math.max(high, low + 0.5)]
}

/**
 * The line under the first row that works, column by column; a gap where that is open.
 * @param {(number | null)[]} needs
 */
export function needsLine(needs) {
  /** @type {Value[]} */
  const x = []
  /** @type {Value[]} */
  const y = []
  needs.forEach((row, column) => {
    if (row === null) {
      x.push(null)
      y.push(null)
    } else {
      x.push(column - 0.5, column + 0.5)
      y.push(row - 0.5, row - 0.5)
    }
  })
  return { x, y }
}
