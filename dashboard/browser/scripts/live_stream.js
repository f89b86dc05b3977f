// @ts-check
// Where a run's records come from, and what of them is new.
import { EventStream } from "./event_stream.js"
import { History } from "./live_history.js"
import { ACTIVE } from "./live_states.js"

/** @import { Live } from "./live.js" */
/** @import { LaneRecord, Records, RunSpec, Status } from "./types.d.ts" */

/** One run's stream; its address says how far each lane is. The history passes over what it has. */
export class Stream extends EventStream {
  /**
   * @param {Live} live
   * @param {string} base
   * @param {RunSpec} spec
   * @param {string[]} columns
   */
  constructor(live, base, spec, columns) {
    super(
      () => `${base}/api/runs/${this.id}/events?after=${this.history.after}`,
      {
        records: (data) => this.take(JSON.parse(data)),
        status: (data) => this.turn(JSON.parse(data)),
        end: () => {
          live.changed()
          live.ended(this)
        },
      },
      () => live.changed([]),
    )
    this.id = spec.id
    this.attempt = spec.attempt
    this.wants = spec.wants
    this.title = spec.title
    this.lanes = spec.lanes
    this.steps = spec.steps
    this.metrics = spec.metrics
    this.baseline = spec.baseline
    this.live = live
    this.history = new History(spec.lanes.length, spec.steps, columns)
    spec.lanes.forEach(({ steps = spec.steps }, k) => {
      this.history.lanes[k].lastStep = steps
    })
    /** @type {Status | null} */
    this.status = null
    this.seenActive = false
  }

  /** @override */
  open() {
    if (this.id) super.open()
  }

  /** @param {Records} arrived */
  take(arrived) {
    const first = !this.history.started // somebody has just pressed Train or opened a link, and waits
    const added = Object.entries(arrived).flatMap(([place, records]) =>
      records.filter((record) => this.history.add(Number(place), record)),
    )
    if (!added.length) return
    if (first) this.live.answer()
    else this.live.changed(newIn(added))
  }

  /** @param {Status} status */
  turn(status) {
    this.status = status
    this.seenActive ||= ACTIVE.has(status.state)
    this.live.changed([])
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
