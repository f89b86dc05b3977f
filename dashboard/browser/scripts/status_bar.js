// @ts-check
// How a run stands: in words, as a bar, and with the buttons of whoever wants it.
import { duration, element, setText, shortNumber } from "./live_elements.js"
import { ACTIVE } from "./live_states.js"

/** @import { Standing } from "./types.d.ts" */

export class StatusBar {
  /**
   * @param {() => Standing} standing of the run, now
   * @param {(action: string) => void} act
   */
  constructor(standing, act) {
    this.standing = standing
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
      onclick: () => act("stop"),
    })
    this.pause.onclick = () => act(this.pause.textContent.toLowerCase())
    const buttons = element("span", { className: "lab-buttons" }, this.pause, this.stop)
    this.box = element("div", { className: "lab-bar" }, this.text, this.track, this.lost, buttons)
  }

  draw() {
    const { id, status, wants, done, steps, progress, button, lost } = this.standing()
    const state = status?.state ?? (id ? "opening" : "ready")
    this.box.dataset.state = state
    const parts = [state === "ready" ? "not trained yet" : state]
    if (state === "queued" && status?.position) parts.push(`place ${status.position} in the queue`)
    if (done) parts.push(progress)
    if (state === "running" && status?.lane_steps_per_second)
      parts.push(`${shortNumber(Math.round(status.lane_steps_per_second))} lane-steps/s`)
    if (state === "running") parts.push(duration(status?.seconds_left))
    if (status && ACTIVE.has(state) && status.wanted_by > 1) parts.push(`wanted by ${status.wanted_by} visitors`)
    const others = status && status.wanted_by > 1 // otherwise another tab of the same visitor lets it go on
    const held = wants === "pause" && others
    if (state === "running" && held) parts.push("you want a pause, others want it to go on")
    if (ACTIVE.has(state) && !wants) parts.push(`somebody else's: ${button} makes it yours, too`)
    if (status?.message) parts.push(status.message)
    setText(this.text, parts.filter(Boolean).join(" · "))
    const percent = (100 * done) / Math.max(steps, 1)
    this.fill.style.width = `${percent}%`
    this.track.setAttribute("aria-valuenow", String(Math.round(percent)))
    this.lost.hidden = !lost
    this.pause.hidden = this.stop.hidden = !ACTIVE.has(state) || !wants
    setText(this.pause, state === "paused" || held ? "Resume" : "Pause")
  }
}
