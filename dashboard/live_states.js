// A lane's state in a word. Every word has its rule, which the page states; the first that holds is shown.
const STUCK_SPAN = 50
const STUCK_WITHIN = 0.03
const RULES = {
  diverged: "its loss or gradient was no longer finite, or its loss grew a hundredfold",
  "stuck at the frequency baseline": `the mean loss of the last ${STUCK_SPAN} steps is within 3% of what predicting token frequencies costs`,
  finished: "the race came to its last step",
  stopped: "somebody stopped the race before its end",
  paused: "somebody holds the race; it can be resumed",
  failed: "an error ended the race; the line above says which",
  "cut off": "the server ended before the race did; Train runs it again",
  waiting: "the race is in the queue, or none of its steps has arrived yet",
  frozen: "the last step moved nothing and only fed the average v",
  "momentum-only": "the last step had no adaptive rate",
  "warming up": "the multiplier is below 0.5 and rising",
  learning: "none of these, while the race goes on",
}
const STATES_OF_A_RACE = new Set(["finished", "stopped", "paused", "failed", "cut off"])

function laneState({ history, status, baseline, lanes }, lane) {
  if (lane in history.divergedAt) return `diverged at step ${history.divergedAt[lane]}`
  const recent = history.recentLoss(lane, STUCK_SPAN)
  if (baseline && recent !== null && Math.abs(recent - baseline) <= STUCK_WITHIN * baseline)
    return "stuck at the frequency baseline"
  if (STATES_OF_A_RACE.has(status?.state)) return status.state
  if (status?.state === "queued" || !history.step) return "waiting"
  return lanes[lane].phases.findLast(([first]) => first <= history.step)[1]
}
