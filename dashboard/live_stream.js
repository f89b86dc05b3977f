// Where a run's frames come from, and what of them is new.
const RETRY_MS = 2000

// One run's stream. EventSource reconnects by itself and sends Last-Event-ID; where it gives up, we open it again and
// the history passes over what it has.
class Stream {
  constructor(live, base, spec) {
    Object.assign(this, spec) // id, lanes, steps, metrics, baseline, attempt
    this.live = live
    this.base = base
    this.history = new History()
    this.status = null
    this.lost = false
    this.ended = false
  }

  open() {
    if (!this.id) return
    this.source?.close()
    this.ended = false
    const source = (this.source = new EventSource(
      `${this.base}/api/runs/${this.id}/events?after=${this.history.next - 1}`,
    ))
    source.onopen = () => this.setLost(false)
    source.onerror = () => {
      if (this.ended || this.source !== source) return
      this.setLost(true)
      if (source.readyState === EventSource.CLOSED) this.retry = setTimeout(() => this.open(), RETRY_MS)
    }
    source.addEventListener("frame", (event) => {
      const frame = JSON.parse(event.data)
      const first = this.history.next === 0 // somebody has just pressed Train or opened a link, and waits
      if (this.history.add(frame)) first ? this.live.answer() : this.live.changed(newIn(frame))
    })
    source.addEventListener("status", (event) => {
      this.status = JSON.parse(event.data)
      this.seenActive ||= ACTIVE.has(this.status.state)
      this.live.changed([])
    })
    source.addEventListener("end", () => {
      this.close()
      this.live.changed()
      this.live.ended(this)
    })
  }

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

// Which charts a frame has something for: those of the steps always, the others now and then.
function newIn(frame) {
  const parts = ["steps"]
  if (frame.histograms) parts.push("histograms")
  if (Object.keys(frame.metrics ?? {}).length) parts.push("metrics")
  return parts
}
