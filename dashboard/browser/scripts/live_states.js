// @ts-check
// A lane's state in words: where it is, and what its loss has done. dashboard/asked/lane_states.py has every word's rule.

/** @import { History } from "./live_history.js" */
/** @import { Lane, Status } from "./types.d.ts" */

const STATES_OF_A_RACE = new Set(["finished", "stopped", "paused", "failed", "cut off"])
export const ACTIVE = new Set(["queued", "running", "paused"])

/**
 * @param {{ history: History, status: Status | null, baseline: number | null, lanes: Lane[] }} run
 * @param {number} place of the lane in the race
 */
export function laneState({ history, status, baseline, lanes }, place) {
  const lane = history.lanes[place]
  if (lane.divergedAt !== null) return `diverged at step ${lane.divergedAt}`
  return [phase(), lane.course.state(baseline)].filter(Boolean).join(" · ")

  function phase() {
    if (lane.over) return "finished" // also while others go on, or after they were stopped
    if (status && STATES_OF_A_RACE.has(status.state)) return status.state
    if (status?.state === "queued" || !lane.step) return "waiting"
    return lanes[place].phases.findLast(([first]) => first <= lane.step)?.[1] ?? ""
  }
}
