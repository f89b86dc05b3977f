// The live race: one event stream feeds every chart of the page. Follows plot_parts.js and the other live_*.js.
const REDRAW_MS = 250

class Live {
  constructor(root) {
    this.root = root
    this.view = { lossAxis: "log", stepAxis: "linear", smoothing: 0.6, quantity: 0, group: "all", step: null }
    this.hidden = new Set()
    this.runs = []
    this.charts = new Map()
    // A chart is drawn first when it comes near, and again only while it can be seen.
    this.observers = [
      new IntersectionObserver((entries) => this.sawCharts(entries, "near"), {
        rootMargin: "400px",
        scrollMargin: "400px",
      }),
      new IntersectionObserver((entries) => this.sawCharts(entries, "visible")),
    ]
    this.resized = new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width !== this.width) this.changed()
      this.width = contentRect.width
    })
    this.resized.observe(root)
    this.bar = new StatusBar(this)
    this.cards = new Cards(this)
    this.tools = new Tools(this)
    this.translations = new Translations(this)
    this.drawnAt = 0
    this.drawingTook = 0
  }

  // Called with the same data after every rerun of the page; only what differs is touched.
  update(data, theme) {
    this.templates = data.templates
    this.plotlyUrl = data.plotlyUrl
    this.theme = theme
    this.figures = data.figures
    const same = this.revision === data.revision
    this.revision = data.revision
    this.follow(data)
    if (!same) this.build(data.panels)
    this.changed()
  }

  // A run that is followed already goes on; another one, or the same one trained again, gets a stream of its own.
  follow(data) {
    this.runs.slice(data.runs.length).forEach((run) => run.close())
    this.runs = data.runs.map((spec, r) => {
      const known = this.runs[r]
      if (known && known.id === spec.id && known.attempt === spec.attempt) return Object.assign(known, spec)
      known?.close()
      const stream = new Stream(this, data.base, spec)
      stream.open()
      return stream
    })
  }

  build(panels) {
    const kept = new Map()
    for (const panel of panels) {
      const chart = this.charts.get(panel.name) ?? new (CHARTS[panel.name] ?? LiveChart)(this, panel)
      chart.panel = panel
      kept.set(panel.name, chart)
    }
    for (const [name, chart] of this.charts) if (!kept.has(name)) chart.close(window.Plotly)
    this.charts = kept
    this.cards.build()
    if (!this.grid) this.lay()
    const [loss, ...rest] = panels
    this.main.replaceChildren(this.titled(loss, this.tools.ofLoss()))
    const sections = rest.map((panel) => this.titled(panel, panel.name === "ridges" ? this.tools.ofRidges() : null))
    this.grid.replaceChildren(...sections, this.translations.box)
  }

  // Nodes of charts move with their section and are never made anew.
  titled(panel, tools) {
    const head = element(
      "div",
      { className: "lab-head" },
      element("span", { className: "lab-title", innerHTML: panel.title }),
    )
    if (tools) head.append(tools)
    const note = element("p", { className: "lab-note", innerHTML: panel.note })
    const chart = this.charts.get(panel.name)
    chart.section = element(
      "section",
      { className: panel.wide ? "lab-panel lab-wide" : "lab-panel" },
      head,
      chart.node,
      note,
    )
    return chart.section
  }

  lay() {
    this.main = element("div", { className: "lab-main" })
    this.grid = element("div", { className: "lab-grid" })
    const rules = Object.entries(RULES).map(([name, rule]) =>
      element("li", {}, element("b", { textContent: name }), `: ${rule}.`),
    )
    const details = element(
      "details",
      { className: "lab-rules" },
      element("summary", { textContent: "How a lane's state is decided" }),
      element("ul", {}, ...rules),
    )
    const side = element("div", { className: "lab-side" }, this.cards.box, details)
    this.root.replaceChildren(this.bar.box, element("div", { className: "lab-top" }, this.main, side), this.grid)
  }

  get quantityAxis() {
    return `log<sub>10</sub> |${"gmv"[this.view.quantity]}|`
  }

  // The chosen step's histogram, or a run's latest before it.
  histogramIndex(run) {
    const steps = run.history.histograms
    if (this.view.step === null) return steps.length - 1
    return steps.findLastIndex(({ t }) => t <= this.view.step)
  }

  histogramAt(run) {
    return run.history.histograms[this.histogramIndex(run)]
  }

  get lost() {
    return this.runs.some((run) => run.lost)
  }

  set(change, parts) {
    Object.assign(this.view, change)
    this.answer(parts)
  }

  toggleLane(lane) {
    this.hidden.has(lane) ? this.hidden.delete(lane) : this.hidden.add(lane)
    this.answer()
  }

  // A visitor who moves something does not wait for the next round.
  answer(parts) {
    clearTimeout(this.timer)
    this.timer = undefined
    this.drawnAt = Math.min(this.drawnAt, performance.now() - Math.max(REDRAW_MS, 3 * this.drawingTook) + 30)
    this.changed(parts)
  }

  sawCharts(entries, how) {
    for (const { target, isIntersecting } of entries)
      for (const chart of this.charts.values()) if (chart.node === target) chart[how] = isIntersecting
    this.schedule()
  }

  // Something arrived: drawn at once if the last drawing is long enough ago, else together with what comes meanwhile.
  changed(parts = ["steps", "metrics", "histograms"]) {
    for (const chart of this.charts.values())
      chart.dirty ||= parts.some((part) => [chart.panel.of, chart.panel.name].includes(part))
    this.schedule()
  }

  // At most four times a second, and on a slow machine at most a quarter of its time.
  schedule() {
    const pause = Math.max(REDRAW_MS, 3 * this.drawingTook)
    this.timer ??= setTimeout(() => this.draw(), Math.max(0, this.drawnAt + pause - performance.now()))
  }

  async draw() {
    try {
      const Plotly = await loadPlotly(this.plotlyUrl)
      if (this.closed) return
      const started = performance.now()
      this.bar.draw()
      this.cards.draw()
      this.tools.draw()
      this.translations.draw()
      const empty = this.runs.every((run) => run.history.next === 0)
      for (const chart of this.charts.values()) chart.section.hidden = empty && !chart.panel.before
      for (const chart of this.charts.values()) chart.draw(Plotly)
      this.drawingTook = performance.now() - started
      this.mark()
    } catch (error) {
      this.bar.text.textContent = `The charts could not be drawn: ${error.message}. Reload the page to try again.`
      throw error
    } finally {
      this.drawnAt = performance.now()
      this.timer = undefined
    }
  }

  // What is on the screen, for those who wait for it.
  mark() {
    const [run] = this.runs
    Object.assign(this.root.dataset, {
      run: run.id ?? "",
      state: run.status?.state ?? "",
      step: String(run.history.step),
      frames: String(run.history.next),
      ended: String(run.ended),
      connection: this.lost ? "lost" : "open",
    })
  }

  act(action) {
    this.send?.(action)
  }

  ended(run) {
    if (run === this.runs[0] && run.seenActive) this.send?.("ended")
  }

  close() {
    this.closed = true
    clearTimeout(this.timer)
    this.runs.forEach((run) => run.close())
    this.observers.forEach((observer) => observer.disconnect())
    this.resized.disconnect()
    for (const chart of this.charts.values()) chart.close(window.Plotly)
  }
}

const lives = new WeakMap()

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".lab-race")
  if (!lives.has(root)) lives.set(root, new Live(root))
  const live = lives.get(root)
  live.send = (action) => setTriggerValue("action", action)
  live.update(data, isDark(parentElement) ? "dark" : "light")
  return () => live.close()
}
