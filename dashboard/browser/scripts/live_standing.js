// @ts-check
// How some runs stand that are one to the visitor: as the one that has most before it.
import { ACTIVE } from "./live_states.js"

/** @import { History } from "./live_history.js" */
/** @import { Standing, Status, Value } from "./types.d.ts" */
/** @typedef {{ id: string | null, status: Status | null, wants: string | null, steps: number, history: History }} Run */

// While one of them trains, they train; over is what all of them are, and of two ends the worse one counts.
export const ORDER = ["running", "queued", "paused", "failed", "cut off", "stopped", "finished"]

/**
 * @param {Run[]} runs
 * @returns {Pick<Standing, "id" | "status" | "wants" | "done" | "steps">}
 */
export function standingOf(runs) {
  const known = runs.flatMap(({ status }) => (status ? [status] : []))
  const under_way = known.some(({ state }) => ACTIVE.has(state))
  const missing = runs.some(({ id }) => !id) && !under_way
  const steps = known[0]?.steps ?? runs[0].steps
  const done = Math.min(...runs.map(({ history, status }) => Math.max(history.step, status?.step ?? 0)))
  const wants = ["go", "pause"].find((want) => runs.some((run) => run.wants === want)) ?? null
  const id = missing ? null : (runs.find((run) => run.id)?.id ?? null)
  return { id, status: missing || !known.length ? null : combined(known, done), wants, done, steps }
}

/**
 * @param {Status[]} all
 * @param {number} step
 * @returns {Status}
 */
function combined(all, step) {
  const [first] = all
  if (all.length === 1) return first
  const state = ORDER.find((name) => all.some((one) => one.state === name)) ?? first.state
  const going = all.filter((one) => one.state === "running")
  /** @param {(Value | undefined)[]} values */
  const numbers = (values) => values.filter((value) => typeof value === "number")
  const left = numbers(going.map((one) => one.seconds_left))
  const speeds = numbers(going.map((one) => one.lane_steps_per_second))
  return {
    ...first,
    state,
    step,
    position: numbers(all.map((one) => one.position))[0] ?? null,
    lane_steps_per_second: speeds.length ? speeds.reduce((sum, speed) => sum + speed, 0) : null,
    // Of one that still waits nobody knows it.
    seconds_left: left.length && !all.some((one) => one.state === "queued") ? Math.max(...left) : null,
    wanted_by: Math.max(...all.map((one) => one.wanted_by)),
    message: [...new Set(all.map((one) => one.message).filter(Boolean))].join(" "),
  }
}
