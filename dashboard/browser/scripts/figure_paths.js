// @ts-check
// The ways of a figure's lines in few letters: a tenth of a point is enough, and a line's next point is never far.

const NUMBER = /-?\d*\.?\d+(?:e-?\d+)?/g
const LINES = /^(?:[ML]-?[\d.]+(?:e-?\d+)?,-?[\d.]+(?:e-?\d+)?)+$/

/**
 * Rounded to a tenth. What has only lines is told by how far each point is from the last one, which is a third shorter;
 * it is counted from where that one was rounded to, so that no error adds up.
 * @param {string} path
 */
export function shortPath(path) {
  if (!LINES.test(path)) return path.replace(/-?\d+\.\d+/g, (number) => String(Number(Number(number).toFixed(1))))
  let [x, y] = [0, 0] // in tenths
  let pen = ""
  let told = ""
  for (const [part] of path.matchAll(/[ML][^ML]*/g)) {
    const [left, top] = (part.match(NUMBER) ?? []).map((number) => Math.round(10 * Number(number)))
    const next = part[0] === "M" ? "m" : "l"
    const far = `${(left - x) / 10},${(top - y) / 10}`
    told += next === pen && next === "l" ? (far[0] === "-" ? far : ` ${far}`) : `${next}${far}`
    pen = next
    x = left
    y = top
  }
  return told.replace(/^m/, "M")
}
