// @ts-check
// A chart that moves, in the visitor's hands: a button that plays it, and a slider over its pictures.
import { plainWords } from "./chart_words.js"
import { element, setText } from "./live_elements.js"

/** @import { Figure, PlayableBox, PlotlyLibrary } from "./types.d.ts" */

const FRAME_MS = 60
const AT_ONCE = { mode: "immediate", transition: { duration: 0 } }

/** @type {WeakMap<HTMLElement, { show: () => void, play: () => void }>} by chart */
const players = new WeakMap()

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} box
 * @param {HTMLElement} bar where its controls stand
 * @param {Figure} figure
 * @param {() => void} drawn called when another picture is shown and stays
 */
export function playerOf(Plotly, box, bar, figure, drawn) {
  const known = players.get(box)
  if (known) return known
  const names = (figure.frames ?? []).map((frame) => String(/** @type {{ name: string }} */ (frame).name))
  const [slider] = figure.layout.sliders ?? []
  const what = plainWords(slider?.currentvalue?.prefix ?? "step ").replace("β_2", "β₂")
  let [at, playing] = [slider?.active ?? names.length - 1, false]
  const play = element("button", { type: "button", className: "lab-button" })
  const range = element("input", { type: "range", min: 0, max: names.length - 1, step: 1 })
  const label = element("output", { className: "lab-frame-label" })
  range.ariaLabel = what.replace(/[ =]+$/, "") === "step" ? "step of the picture" : what.replace(/[ =]+$/, "")
  const show = () => {
    range.value = String(at)
    setText(label, `${what}${names[at]}`)
    range.setAttribute("aria-valuetext", `${what}${names[at]}`)
    setText(play, playing ? "Pause" : "Play")
  }
  const stay = () => {
    playing = false
    show()
    drawn()
  }
  const start = () => {
    playing = true
    const from = at >= names.length - 1 ? 0 : at
    const frame = { duration: FRAME_MS, redraw: false }
    Plotly.animate(box, names.slice(from), { ...AT_ONCE, frame }).then(stay, () => {}) // it is refused when another begins
    show()
  }
  const jump = async (/** @type {number} */ place) => {
    at = place
    await Plotly.animate(box, [names[at]], { ...AT_ONCE, frame: { duration: 0, redraw: false } }).catch(() => {})
    stay()
  }
  play.onclick = () => (playing ? jump(at) : start())
  range.oninput = () => jump(Number(range.value))
  bar.replaceChildren(play, range, label)
  bar.hidden = false
  const moving = /** @type {PlayableBox} */ (box)
  moving.on("plotly_animatingframe", ({ name }) => {
    at = Math.max(0, names.indexOf(name))
    show()
  })
  const player = { show, play: start }
  players.set(box, player)
  show()
  return player
}

/** @param {HTMLElement} box */
export const forgetPlayer = (box) => players.delete(box)
