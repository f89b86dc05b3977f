// What stands around the charts: progress, a card for each lane, and sentences of the translating models.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

function escaped(text) {
  return text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c])
}

function shortNumber(value) {
  if (value === null || value === undefined) return "–"
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2)
  return String(Number(value.toPrecision(4)))
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return ""
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s left`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min left` : `${(seconds / 3600).toFixed(1)} h left`
}

class Cards {
  constructor(live) {
    this.live = live
    this.box = element("div", { className: "lab-cards" })
  }

  build() {
    this.cards = this.live.runs.map((run, r) =>
      run.lanes.map((lane, k) => {
        const card = element("button", {
          type: "button",
          className: "lab-card",
          title: "Click to hide or show this lane",
        })
        card.dataset.lane = lane.label
        card.append(
          lineSample(lane.line),
          element("span", { className: "lab-label", textContent: lane.label }),
          element("span", { className: "lab-state" }),
          element("span", { className: "lab-loss", title: "loss at the last recorded step" }),
          element("span", { className: "lab-metric" }),
        )
        card.onclick = () => this.live.toggleLane(`${r}:${k}`)
        return card
      }),
    )
    this.box.replaceChildren(...this.cards.flat())
  }

  draw() {
    this.live.runs.forEach((run, r) =>
      run.lanes.forEach((_, k) => {
        const card = this.cards[r][k]
        const loss = run.history.latest("loss", k)
        setText(card.querySelector(".lab-state"), laneState(run, k))
        setText(card.querySelector(".lab-loss"), `loss ${shortNumber(loss)}`)
        const [metric] = Object.keys(run.metrics)
        const measured = metric ? run.history.latestMetric(metric, k) : null
        setText(card.querySelector(".lab-metric"), metric ? metricText(metric, run.metrics[metric], measured) : "")
        Object.assign(card.dataset, { loss: loss ?? "", metric: measured ?? "" })
        card.setAttribute("aria-pressed", String(!this.live.hidden.has(`${r}:${k}`)))
      }),
    )
  }
}

function metricText(name, better, value) {
  const percent = value !== null && better === "higher" && value <= 1
  return `${name} ${percent ? `${(100 * value).toFixed(1)}%` : shortNumber(value)}`
}

function lineSample({ color, dash }) {
  const kind = dash === "solid" ? "solid" : ["dot", "dashdot"].includes(dash) ? "dotted" : "dashed"
  const sample = element("span", { className: "lab-sample" })
  sample.style.borderTop = `4px ${kind} ${color}`
  return sample
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

const ACTIVE = new Set(["queued", "running", "paused"])

class StatusBar {
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
    if (state === "queued" && status.position) parts.push(`place ${status.position} in the queue`)
    if (done) parts.push(`step ${done} of ${steps}`)
    if (state === "running" && status.lane_steps_per_second)
      parts.push(`${shortNumber(Math.round(status.lane_steps_per_second))} lane-steps/s`)
    if (state === "running") parts.push(duration(status.seconds_left))
    if (status?.message) parts.push(status.message)
    setText(this.text, parts.filter(Boolean).join(" · "))
    this.fill.style.width = `${(100 * done) / Math.max(steps, 1)}%`
    this.track.setAttribute("aria-valuenow", String(Math.round((100 * done) / Math.max(steps, 1))))
    this.lost.hidden = !this.live.lost
    const active = ACTIVE.has(state)
    this.pause.hidden = this.stop.hidden = !active
    setText(this.pause, state === "paused" ? "Resume" : "Pause")
  }
}

const STATE_WORDS = { ready: "not trained yet: press Train" }

// What each lane makes of a few held-out sentences.
class Translations {
  constructor(live) {
    this.live = live
    this.box = element("div", { className: "lab-samples" })
  }

  draw() {
    const [run] = this.live.runs
    const { samples } = run.history
    if (samples === this.drawn) return
    this.drawn = samples
    if (!samples) return this.box.replaceChildren()
    const blocks = samples[0].map(([source, , expected], i) => {
      const rows = run.lanes.map((lane, k) => {
        const said = samples[k][i][1]
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
