// @ts-check
// Small things that a page is put together from: elements, and numbers as a reader wants them.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} [properties]
 * @param {(Node | string)[]} children
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

/**
 * Touches the page only where the text differs.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/** @param {string} text */
export function escaped(text) {
  return text.replace(/[&<>]/g, (letter) => ENTITIES[letter])
}

/** @param {number | null | undefined} value */
export function shortNumber(value) {
  if (value === null || value === undefined) return "–"
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2)
  return String(Number(value.toPrecision(4)))
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return ""
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s left`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min left` : `${(seconds / 3600).toFixed(1)} h left`
}
