// @ts-check
// Text in an exported figure: measured in the font that is embedded with it, wrapped, and with Plotly's sub and sup.

export const FAMILY = "Lab Sans"
export const FONTS = `${FAMILY}, Arial, Helvetica, sans-serif` // the last ones for programs that pass embedded fonts over
const SMALL = 0.7 // a subscript's size
const SHIFT = { sub: 0.25, sup: -0.4 } // of the letters' size, downwards

/**
 * @typedef {{ text: string, kind: "" | "sub" | "sup", bold: boolean }} Run
 */

/**
 * Plotly's little HTML as runs of equal letters. Whatever else stands in angle brackets is left out.
 * @param {string} html
 * @returns {Run[]}
 */
export function runsOf(html) {
  /** @type {Run[]} */
  const runs = []
  /** @type {Run["kind"][]} */
  const kinds = [""]
  let bold = 0
  for (const piece of html.split(/(<[^>]*>)/)) {
    const tag = /^<(\/?)(\w+)[^>]*>$/.exec(piece)
    if (!tag) {
      if (piece) runs.push({ text: plain(piece), kind: kinds[kinds.length - 1], bold: bold > 0 })
      continue
    }
    const [, closing, name] = tag
    if (name === "b") bold += closing ? -1 : 1
    if (name === "br") runs.push({ text: " ", kind: "", bold: bold > 0 })
    if (name !== "sub" && name !== "sup") continue
    if (closing) kinds.length > 1 && kinds.pop()
    else kinds.push(name)
  }
  return runs
}

/** @type {Record<string, string>} */
const LETTERS = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" }

/** @param {string} text with entities */
function plain(text) {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => LETTERS[entity]).replaceAll("✕", "×")
}

/** @type {CanvasRenderingContext2D | undefined} */
let canvas

/**
 * @param {string} html
 * @param {number} size of the letters
 * @param {boolean} [bold]
 */
export function widthOf(html, size, bold = false) {
  canvas ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"))
  let width = 0
  for (const run of runsOf(html)) {
    canvas.font = `${run.bold || bold ? "bold " : ""}${100 * (run.kind ? SMALL : 1)}px ${FAMILY}`
    width += (canvas.measureText(run.text).width * size) / 100
  }
  return width
}

/**
 * Lines that are no wider than that, broken between words.
 * @param {string} html
 * @param {number} size
 * @param {number} width
 * @param {boolean} [bold]
 */
export function wrapped(html, size, width, bold = false) {
  /** @type {string[]} */
  const lines = []
  let line = ""
  for (const word of html.split(/ +/)) {
    const longer = line ? `${line} ${word}` : word
    if (line && widthOf(longer, size, bold) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return line ? [...lines, line] : lines
}

/**
 * @param {string} html
 * @param {{ x: number, y: number, size: number, color: string, bold?: boolean }} how
 */
export function svgText(html, { x, y, size, color, bold = false }) {
  let below = 0
  const spans = runsOf(html).map((run) => {
    const wanted = run.kind ? SHIFT[run.kind] * size : 0
    const dy = wanted - below
    below = wanted
    const small = run.kind ? ` font-size="${short(SMALL * size)}"` : ""
    const weight = run.bold && !bold ? ' font-weight="bold"' : ""
    return `<tspan${dy ? ` dy="${short(dy)}"` : ""}${small}${weight}>${escapedText(run.text)}</tspan>`
  })
  const weight = bold ? ' font-weight="bold"' : ""
  const font = `font-family="${FONTS}" font-size="${short(size)}"${weight}`
  return `<text x="${short(x)}" y="${short(y)}" ${font} fill="${color}" xml:space="preserve">${spans.join("")}</text>`
}

/** @param {number} value */
export const short = (value) => String(Number(value.toFixed(2)))

/** @param {string} text */
export const escapedText = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
