// @ts-check
// What stands around the charts: progress, a card for each lane, and sentences of the translating models.
import { MOST_IN_LEGEND } from "./live_charts.js"
import { duration, element, setText, shortNumber } from "./live_elements.js"
import { FINAL_STEPS } from "./live_loss.js"
import { ACTIVE, laneState } from "./live_states.js"

/** @import { Live } from "./live.js" */
/** @import { Lane, Line } from "./types.d.ts" */

/** @type {Partial<Record<string, string>>} */
const STATE_WORDS = { ready: "not trained yet: press Train" }

export class Cards {
  /** @param {Live} live */
  constructor(live) {
    this.live = live
    this.box = element("div", { className: "lab-cards" })
    /** @type {Card[][]} by run and lane */
    this.cards = []
  }

  build() {
    this.cards = this.live.runs.map((run, r) =>
      run.lanes.map((lane, k) => {
        const card = new Card(lane)
        card.box.onclick = () => this.live.toggleLane(`${r}:${k}`)
        return card
      }),
    )
    const groups = this.cards.map((column, r) => {
      const cards = column.map(({ box }) => box)
      const head = element("div", {
        className: "lab-cards-head",
        textContent: r ? "Compared, thinner and dashed" : "This race",
      })
      return this.cards.length > 1 ? [head, ...cards] : cards
    })
    this.box.replaceChildren(...groups.flat())
    this.live.root.classList.toggle("lab-many", this.cards.flat().length > MOST_IN_LEGEND)
  }

  draw() {
    this.live.runs.forEach((run, r) =>
      run.lanes.forEach((_, k) => {
        const card = this.cards[r][k]
        const history = run.history.lanes[k]
        const loss = history.finalLoss()
        setText(card.state, laneState(run, k))
        setText(card.loss, `loss (last ${FINAL_STEPS}) ${shortNumber(loss)}`)
        const [metric] = Object.keys(run.metrics)
        const measured = metric ? history.latestMetric(metric) : null
        setText(card.metric, metric ? metricText(metric, run.metrics[metric], measured) : "")
        Object.assign(card.box.dataset, { loss: loss ?? "", metric: measured ?? "" })
        card.box.setAttribute("aria-pressed", String(!this.live.hidden.has(`${r}:${k}`)))
      }),
    )
  }
}

/** A lane's card: a button with the lane's line, name, state, loss and metric. */
class Card {
  /** @param {Lane} lane */
  constructor(lane) {
    this.state = element("span", {
      className: "lab-state",
      title: "“What is what”, above, has the rule of every state",
    })
    this.loss = element("span", {
      className: "lab-loss",
      title: `mean training loss of the last ${FINAL_STEPS} steps`,
    })
    this.metric = element("span", { className: "lab-metric" })
    this.box = element(
      "button",
      { type: "button", className: "lab-card", title: "Click to hide or show this lane" },
      lineSample(lane.line),
      element("span", { className: "lab-label", textContent: lane.name }),
      this.state,
      this.loss,
      this.metric,
    )
    this.box.dataset.lane = lane.label
  }
}

/**
 * @param {string} name
 * @param {string} better
 * @param {number | null} value
 */
function metricText(name, better, value) {
  const percent = value !== null && better === "higher" && value <= 1
  return `${name} ${percent ? `${(100 * value).toFixed(1)}%` : shortNumber(value)}`
}

/** @param {Line} line */
function lineSample({ color, dash }) {
  const kind = dash === "solid" ? "solid" : dash === "dot" || dash === "dashdot" ? "dotted" : "dashed"
  const sample = element("span", { className: "lab-sample" })
  sample.style.borderTop = `4px ${kind} ${color}`
  return sample
}

export class StatusBar {
  /** @param {Live} live */
  constructor(live) {
    this.live = live
    this.text = element("span", { className: "lab-status" })
    this.lost = element("span", {
      className: "lab-lost",
      textContent: "connection lost, trying again ...",
      hidden: true,
    })
    this.fill = element("div", { className: "lab-fill" })
    this.track = element("div", { className: "lab-track", role: "progressbar", ariaLabel: "steps done" }, this.fill)
    this.pause = element("button", { type: "button", className: "lab-button", textContent: "Pause" })
    this.stop = element("button", {
      type: "button",
      className: "lab-button",
      textContent: "Stop",
      onclick: () => live.act("stop"),
    })
    this.pause.onclick = () => live.act(this.pause.textContent.toLowerCase())
    const buttons = element("span", { className: "lab-buttons" }, this.pause, this.stop)
    this.box = element("div", { className: "lab-bar" }, this.text, this.track, this.lost, buttons)
  }

  draw() {
    const [run] = this.live.runs
    const { status, history } = run
    const state = status?.state ?? (run.id ? "opening" : "ready")
    const steps = status?.steps ?? run.steps
    const done = Math.max(history.step, status?.step ?? 0)
    const parts = [STATE_WORDS[state] ?? state]
    if (state === "queued" && status?.position) parts.push(`place ${status.position} in the queue`)
    if (done) parts.push(`step ${done} of ${steps}`)
    if (state === "running" && status?.lane_steps_per_second)
      parts.push(`${shortNumber(Math.round(status.lane_steps_per_second))} lane-steps/s`)
    if (state === "running") parts.push(duration(status?.seconds_left))
    const { wants } = run
    if (status && ACTIVE.has(state) && status.wanted_by > 1) parts.push(`wanted by ${status.wanted_by} visitors`)
    const others = status && status.wanted_by > 1 // otherwise another tab of the same visitor lets it go on
    const held = wants === "pause" && others
    if (state === "running" && held) parts.push("you want a pause, others want it to go on")
    if (ACTIVE.has(state) && !wants) parts.push("somebody else's: Train makes it yours, too")
    if (status?.message) parts.push(status.message)
    setText(this.text, parts.filter(Boolean).join(" · "))
    this.fill.style.width = `${(100 * done) / Math.max(steps, 1)}%`
    this.track.setAttribute("aria-valuenow", String(Math.round((100 * done) / Math.max(steps, 1))))
    this.lost.hidden = !this.live.lost
    this.pause.hidden = this.stop.hidden = !ACTIVE.has(state) || !wants
    setText(this.pause, state === "paused" || held ? "Resume" : "Pause")
  }
}

/** What each lane makes of a few held-out sentences. */
export class Translations {
  /** @param {Live} live */
  constructor(live) {
    this.live = live
    this.box = element("div", { className: "lab-samples" })
    this.drawn = ""
  }

  draw() {
    const [run] = this.live.runs
    const samples = run.history.lanes.map((lane) => lane.samples)
    const shown = JSON.stringify([run.lanes.map(({ label, line }) => [label, line.color]), samples])
    if (shown === this.drawn) return
    this.drawn = shown
    const sentences = samples.find((own) => own) // the same ones for every lane
    if (!sentences) return this.box.replaceChildren()
    const blocks = sentences.map(([source, , expected], i) => {
      const rows = run.lanes.map((lane, k) => {
        const said = samples[k] ? samples[k][i][1] : "…"
        const right = said === expected
        const name = element("th", { scope: "row", textContent: lane.label })
        name.style.color = lane.line.color
        return element(
          "tr",
          {},
          name,
          element("td", { textContent: `${right ? "✓ " : ""}${said || "(nothing)"}`, title: said }),
        )
      })
      const head = element("caption", {}, element("b", { textContent: source }), ` → ${expected}`)
      return element("table", {}, head, element("tbody", {}, ...rows))
    })
    this.box.replaceChildren(element("div", { className: "lab-title", textContent: "What each lane says" }), ...blocks)
  }
}
