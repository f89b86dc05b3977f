// @ts-check
// A stream of events from our server that finds its way back.

const RETRY_MS = 2000

/**
 * EventSource reconnects by itself and sends Last-Event-ID, which says how far it was; where it gives up, we open it
 * again, and `address` says so.
 */
export class EventStream {
  /**
   * @param {() => string} address where to go on from here
   * @param {Record<string, (data: string) => void>} events what is done with each of them; "end" is the last
   * @param {() => void} changed the connection was lost, or found again
   */
  constructor(address, events, changed) {
    this.address = address
    this.events = events
    this.changed = changed
    this.lost = false
    this.ended = false
  }

  open() {
    this.source?.close()
    this.ended = false
    const source = new EventSource(this.address())
    this.source = source
    source.onopen = () => this.setLost(false)
    source.onerror = () => {
      if (this.ended || this.source !== source) return
      this.setLost(true)
      if (source.readyState === EventSource.CLOSED) this.retry = setTimeout(() => this.open(), RETRY_MS)
    }
    for (const [name, act] of Object.entries(this.events))
      source.addEventListener(name, (event) => {
        if (name === "end") this.close()
        act(event.data)
      })
  }

  /** @param {boolean} lost */
  setLost(lost) {
    this.lost = lost
    this.changed()
  }

  close() {
    this.ended = true
    this.lost = false
    clearTimeout(this.retry)
    this.source?.close()
  }
}
