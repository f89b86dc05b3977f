// @ts-check
// What stands beside the charts: a card for each lane, and sentences of the translating models.
import { dashesOf } from "./figure_dashes.js"
import { MOST_IN_LEGEND } from "./live_chart.js"
import { element, setText, shortNumber } from "./live_elements.js"
import { FINAL_STEPS } from "./live_loss.js"
import { laneState } from "./live_states.js"

/** @import { Live } from "./live.js" */
/** @import { Lane, Line } from "./types.d.ts" */

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
        textContent: this.live.runs[r].title,
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
function lineSample({ color, dash, width }) {
  const sample = element("span", { className: "lab-sample", ariaHidden: "true" })
  const dashes = dashesOf(dash ?? "", Math.min(width, 3)).join()
  sample.innerHTML = `<svg viewBox="0 0 40 6"><path d="M0,3h40" stroke-width="${width + 1}"/></svg>`
  const path = /** @type {SVGElement} */ (sample.querySelector("path"))
  path.setAttribute("stroke", color)
  if (dashes) path.setAttribute("stroke-dasharray", dashes)
  return sample
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
    if (this.live.together) return this.box.replaceChildren() // of two runs it would not say whose words they are
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
        const name = element("th", { scope: "row" }, lineSample(lane.line), ` ${lane.label}`)
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
