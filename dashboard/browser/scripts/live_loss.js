// @ts-check
// What a lane's loss has done, in words: the rule of dashboard/asked/lane_states.py, which the page states.
import { shortNumber } from "./live_elements.js"

/** @import { Value } from "./types.d.ts" */

export const FINAL_STEPS = 20 // radam_core/race/plan.py has the same: a lane's loss is the mean over these
const TENTH = 0.1 // of the baseline
const HALF = 0.5
const LATELY = 100 // steps, or a part of those done: so long ago was the best loss, while it falls
const LATELY_PART = 0.2

/** A lane's loss so far, as far as its state needs it. */
export class LossCourse {
  constructor() {
    this.step = 0
    this.first = Number.NaN
    this.now = Number.NaN // the mean over the last steps
    this.best = Infinity // the smallest such mean
    this.bestAt = 0
    /** @type {[number, number][]} steps and losses */
    this.last = []
  }

  /**
   * @param {number[]} steps
   * @param {Value[]} losses
   */
  add(steps, losses) {
    steps.forEach((step, i) => {
      const loss = losses[i]
      if (loss === null) return
      if (!this.step) this.first = loss
      this.step = step
      this.last.push([step, loss])
      while (this.last[0][0] <= step - FINAL_STEPS) this.last.shift()
      this.now = this.last.reduce((sum, [, value]) => sum + value, 0) / this.last.length
      if (step < FINAL_STEPS || this.now >= this.best) return
      this.best = this.now
      this.bestAt = step
    })
  }

  /**
   * In words; nothing while there are too few steps to say it.
   * @param {number | null} baseline
   */
  state(baseline) {
    const reference = baseline ?? this.first
    if (this.step < FINAL_STEPS || !(reference > 0)) return ""
    const tenth = TENTH * reference
    const half = HALF * reference
    const best = `(best ${shortNumber(this.best)} at step ${this.bestAt})`
    if (this.best < half && this.now > (this.best + reference) / 2) return `lost what it had learned ${best}`
    if (this.now >= reference - tenth)
      return `${this.now > reference + tenth ? "above" : "at"} ${baseline === null ? "its first loss" : "the baseline"}`
    if (this.now - this.best > tenth) return this.now < half ? `learned, spiking ${best}` : `spiking ${best}`
    if (this.now < half) return "learned"
    const lately = Math.max(LATELY, LATELY_PART * this.step)
    return this.step - this.bestAt < lately ? "falling" : `standing still ${best}`
  }
}
