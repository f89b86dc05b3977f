// @ts-check
// Where a run's records come from, and what of them is new.
import { History } from "./live_history.js"
import { ACTIVE } from "./live_states.js"

/** @import { Live } from "./live.js" */
/** @import { LaneRecord, Records, RunSpec, Status } from "./types.d.ts" */

const RETRY_MS = 2000

/**
 * One run's stream. EventSource reconnects by itself and sends Last-Event-ID, which says how far each lane is; where it
 * gives up, we open it again and say so ourselves. The history passes over what it has.
 */
export class Stream {
  /**
   * @param {Live} live
   * @param {string} base
   * @param {RunSpec} spec
   * @param {string[]} columns
   */
  constructor(live, base, spec, columns) {
    this.id = spec.id
    this.attempt = spec.attempt
    this.wants = spec.wants
    this.lanes = spec.lanes
    this.steps = spec.steps
    this.metrics = spec.metrics
    this.baseline = spec.baseline
    this.live = live
    this.base = base
    this.history = new History(spec.lanes.length, spec.steps, columns)
    /** @type {Status | null} */
    this.status = null
    this.seenActive = false
    this.lost = false
    this.ended = false
  }

  open() {
    if (!this.id) return
    this.source?.close()
    this.ended = false
    const source = new EventSource(`${this.base}/api/runs/${this.id}/events?after=${this.history.after}`)
    this.source = source
    source.onopen = () => this.setLost(false)
    source.onerror = () => {
      if (this.ended || this.source !== source) return
      this.setLost(true)
      if (source.readyState === EventSource.CLOSED) this.retry = setTimeout(() => this.open(), RETRY_MS)
    }
    source.addEventListener("records", (event) => {
      /** @type {Records} */
      const arrived = JSON.parse(event.data)
      const first = !this.history.started // somebody has just pressed Train or opened a link, and waits
      const added = Object.entries(arrived).flatMap(([place, records]) =>
        records.filter((record) => this.history.add(Number(place), record)),
      )
      if (!added.length) return
      if (first) this.live.answer()
      else this.live.changed(newIn(added))
    })
    source.addEventListener("status", (event) => {
      /** @type {Status} */
      const status = JSON.parse(event.data)
      this.status = status
      this.seenActive ||= ACTIVE.has(status.state)
      this.live.changed([])
    })
    source.addEventListener("end", () => {
      this.close()
      this.live.changed()
      this.live.ended(this)
    })
  }

  /** @param {boolean} lost */
  setLost(lost) {
    this.lost = lost
    this.live.changed([])
  }

  close() {
    this.ended = true
    this.lost = false
    clearTimeout(this.retry)
    this.source?.close()
  }
}

/**
 * Which charts some records have something for: those of the steps always, the others now and then.
 * @param {LaneRecord[]} records
 */
function newIn(records) {
  const parts = ["steps"]
  if (records.some(({ histograms }) => histograms)) parts.push("histograms")
  if (records.some(({ metrics }) => metrics)) parts.push("metrics")
  return parts
}
