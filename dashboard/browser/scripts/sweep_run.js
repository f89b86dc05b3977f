// @ts-check
// A sweep's run as a page follows it: its lanes' points, how it stands, and what was found.
import { EventStream } from "./event_stream.js"
import { ACTIVE } from "./live_states.js"
import { Cells } from "./sweep_cells.js"

/** @import { Standing, Status, SweepMessage } from "./types.d.ts" */

/** @template Found what the page's view of the stream tells as findings */
export class SweepRun {
  /**
   * @param {string} view
   * @param {{ changed: () => void, found: (found: Found | null) => void, ended: () => void }} page
   */
  constructor(view, page) {
    this.view = view
    this.page = page
    this.cells = new Cells(0, 0)
    this.lanes = 0
    /** @type {SweepMessage["run"] | null} */
    this.run = null
    /** @type {Status | null} */
    this.status = null
    /** @type {Found | null} */
    this.found = null
    this.seenActive = false
  }

  /**
   * @param {string} base
   * @param {SweepMessage["run"]} run
   * @param {number} lanes
   * @param {number} points
   */
  follow(base, run, lanes, points) {
    this.stream?.close()
    this.run = run
    this.lanes = lanes
    this.cells = new Cells(lanes, points)
    this.status = null
    this.tell(null)
    if (!run.id) return
    const stream = new EventStream(
      () => `${base}/api/runs/${run.id}/events?view=${this.view}`,
      {
        cells: (data) => {
          this.cells.add(JSON.parse(data))
          this.page.changed()
        },
        findings: (data) => {
          this.tell(JSON.parse(data))
          this.page.changed()
        },
        status: (data) => {
          /** @type {Status} */
          const status = JSON.parse(data)
          this.status = status
          this.seenActive ||= ACTIVE.has(status.state)
          this.page.changed()
        },
        end: () => {
          this.page.changed()
          if (this.seenActive) this.page.ended()
          this.seenActive = false
        },
      },
      () => this.page.changed(),
    )
    this.stream = stream
    stream.open()
  }

  /** @param {Found | null} found */
  tell(found) {
    this.found = found
    this.page.found(found)
  }

  /**
   * @param {string} button that starts it
   * @returns {Standing}
   */
  standing(button) {
    const { status, cells, run, lanes, stream } = this
    return {
      id: run?.id ?? null,
      status,
      wants: run?.wants ?? null,
      done: status?.step ?? 0,
      steps: status?.steps ?? 0,
      progress: `${cells.done} of ${lanes} lanes done`,
      button,
      lost: stream?.lost ?? false,
    }
  }

  /**
   * What is on the screen, for those who wait for it.
   * @param {HTMLElement} root
   */
  mark(root) {
    Object.assign(root.dataset, {
      run: this.run?.id ?? "",
      state: this.status?.state ?? "",
      done: String(this.cells.done),
      found: String(this.found !== null),
      ended: String(this.stream?.ended ?? false),
      connection: this.stream?.lost ? "lost" : "open",
    })
  }

  close() {
    this.stream?.close()
  }
}
