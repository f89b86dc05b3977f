// @ts-check
// A chart of the page made ready for a slide or a paper: another size, larger letters, wider lines, another theme.
import { logTicks, spreadColumns, spreadRows, usable } from "./figure_axes.js"
import { vectorMaps } from "./figure_maps.js"
import { FONTS, widthOf, wrapped } from "./figure_text.js"
import { valuesOf } from "./figure_values.js"
import { thinned } from "./live_curves.js"

/** @import { Axis, Figure, Layout, Trace, Value } from "./types.d.ts" */

export const PAGE_LETTERS = 13 // of a chart on the page
const TITLE = 20 / 18 // an axis's title beside its numbers

/**
 * @param {Figure} figure as it is on the page
 * @param {{ width: number, height: number, letters: number, template: { layout: Layout }, paper: string, papers: string[] }} how
 *   `paper` is the colour behind it, `papers` are those that the page may have behind it
 * @returns {Figure}
 */
export function staged({ data, layout: given }, how) {
  const { width, height, letters, paper } = how
  const grown = letters / PAGE_LETTERS
  const layout = /** @type {Layout} */ (scaled(structuredClone(given), letters, grown))
  for (const name of ["sliders", "updatemenus", "title", "uirevision", "height", "meta"]) delete layout[name]
  const template = structuredClone(how.template)
  Object.assign(template.layout, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" })
  template.layout.font = { ...template.layout.font, size: letters, family: FONTS }
  const shown = data.filter(({ visible }) => visible !== false && visible !== "legendonly")
  const { traces, shapes } = vectorMaps(shown, layout, 0.8 * letters)
  if (layout.coloraxis) layout.coloraxis = stagedScale(layout.coloraxis, letters)
  spreadColumns(layout, width, letters)
  const level = height - slanted(traces, layout, width, letters)
  spreadRows(layout, level, letters)
  const { t, b, l, r } = outside(layout, letters)
  Object.assign(layout, {
    template,
    width,
    height,
    autosize: false,
    showlegend: false,
    font: { size: letters, family: FONTS },
    margin: { l: l + 0.3 * letters, r: r + letters, t, b: b + 0.2 * letters, pad: 0 },
    shapes: [...shapes, ...(layout.shapes ?? [])],
  })
  for (const key of Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name))) {
    const room = key.startsWith("x") ? width : level
    const ticked = { ...layout[key], ...logTicks(layout[key], key, traces, room, letters) }
    layout[key] = stagedAxis(ticked, key.startsWith("x"), room, letters, namesOn(ticked, key, traces))
  }
  return { data: traces.map((trace, i) => stagedTrace(trace, i, grown, how.papers, paper)), layout }
}

/**
 * Letters of one size, and every distance in pixels grown with them.
 * @param {unknown} part
 * @param {number} letters
 * @param {number} grown
 * @returns {unknown}
 */
function scaled(part, letters, grown) {
  if (Array.isArray(part)) return part.map((one) => scaled(one, letters, grown))
  if (!part || typeof part !== "object") return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (/font$/.test(key)) return [key, { ...value, size: letters, family: FONTS }]
      if (["xshift", "yshift", "standoff", "ticklen"].includes(key)) return [key, Number(value) * grown]
      if (key === "line" && value?.width) return [key, { ...value, width: value.width * grown }]
      return [key, scaled(value, letters, grown)]
    }),
  )
}

/**
 * The height that names along an axis take where they have no room side by side, and Plotly slants them.
 * @param {Trace[]} traces
 * @param {Layout} layout
 * @param {number} width
 * @param {number} letters
 */
function slanted(traces, layout, width, letters) {
  const names = new Set(traces.flatMap(({ x, type }) => (type === "scatter" || !type ? valuesOf(x) : [])))
  const words = [...names].filter((name) => typeof name === "string")
  const { domain = [0, 1], tickangle } = /** @type {Axis} */ (layout.xaxis ?? {})
  const own = usable(width, letters, true) * (domain[1] - domain[0])
  const longest = Math.max(
    0,
    ...words.map((word) => widthOf(word, tickangle ? slantedSize(own, words.length, letters) : letters)),
  )
  return words.length * (longest + letters) > 0.5 * width ? 0.8 * longest : 0
}

/**
 * Names that stand aslant are as high as they are long: where they are many, smaller ones leave the chart its room.
 * @param {number} own room of the axis
 * @param {number} names
 * @param {number} letters
 */
const slantedSize = (own, names, letters) => Math.max(0.55 * letters, Math.min(letters, own / names / 1.4))

/**
 * What annotations beside the axes need: Plotly leaves room for numbers and titles of axes alone.
 * @param {Layout} layout
 * @param {number} letters
 */
function outside({ annotations = [], coloraxis }, letters) {
  const room = { t: 0.4 * letters, b: 0, l: 0, r: 0 }
  for (const { yref, y, yanchor, yshift = 0, xref, x, xanchor, text = "", textangle } of annotations) {
    const lines = String(text).split("<br>").length
    if (yref === "paper" && y >= 0.99 && (yanchor ?? "bottom") === "bottom")
      room.t = Math.max(room.t, 1.5 * lines * letters)
    if (yref === "paper" && y <= 0.01 && yanchor === "top")
      room.b = Math.max(room.b, Math.abs(yshift) + (1.4 * lines - 0.1) * letters)
    if (xref === "paper" && x >= 0.98 && xanchor === "left")
      room.r = Math.max(room.r, textangle ? 1.4 * letters : widthOf(text, letters))
  }
  if (coloraxis) room.r = Math.max(room.r, 0.5 * letters)
  return room
}

/**
 * @param {Axis} axis
 * @param {boolean} across
 * @param {number} room that the whole figure has in this direction
 * @param {number} letters
 * @param {number} names that stand along it
 */
function stagedAxis(axis, across, room, letters, names) {
  const title = typeof axis.title === "string" ? { text: axis.title } : /** @type {Layout} */ (axis.title ?? {})
  const [low, high] = axis.domain ?? [0, 1]
  const own = usable(room, letters, across) * (high - low)
  const { lines, size } = fitted(String(title.text ?? "").replaceAll("<br>", " "), TITLE * letters, own)
  const ticks = axis.tickangle && names ? slantedSize(own, names, letters) : letters
  /** @type {Layout} */
  const made = {
    ...axis,
    automargin: true,
    ticklabeloverflow: "allow",
    title: {
      ...title,
      text: lines.join("<br>"),
      ...(across ? {} : { standoff: 0.9 * letters }),
      font: { size, family: FONTS },
    },
    tickfont: { size: ticks, family: FONTS },
  }
  if (Array.isArray(axis.tickvals)) Object.assign(made, thinnedTicks(made, across, own, letters))
  else if (names && own / names >= (across ? 1.4 : 1.15) * ticks)
    made.dtick = 1 // or Plotly would leave some out
  else if (!axis.dtick) made.nticks = Math.max(across ? 3 : 2, Math.floor(own / ((across ? 2.8 : 2.2) * letters)))
  return made
}

/**
 * How many names an axis has, where it has names and not numbers.
 * @param {Axis} axis
 * @param {string} key
 * @param {Trace[]} traces
 */
function namesOn({ type, categoryarray }, key, traces) {
  if (Array.isArray(categoryarray)) return categoryarray.length
  const [letter, name] = [/** @type {"x" | "y"} */ (key[0]), key.replace("axis", "")]
  const own = traces.filter((trace) => (trace[`${letter}axis`] ?? letter) === name)
  const names = new Set(own.flatMap((trace) => valuesOf(trace[letter]).filter((value) => typeof value === "string")))
  return type === "category" || names.size ? names.size : 0
}

/**
 * A title along an axis: in up to two lines, or three where their letters would become small, which a short axis makes
 * them in the end.
 * @param {string} text
 * @param {number} most letters' size
 * @param {number} room
 */
function fitted(text, most, room) {
  const [two, three] = [2, 3].map((rows) => {
    let size = most
    let lines = text ? wrapped(text, size, room) : []
    while (size > 0.55 * most && (lines.length > rows || lines.some((line) => widthOf(line, size) > room))) {
      size *= 0.95
      lines = wrapped(text, size, room)
    }
    let narrow = room // the last line should not be one short word
    const even = () => lines.length > 1 && wrapped(text, size, 0.9 * narrow).length === lines.length
    while (narrow > 0.3 * room && even()) narrow *= 0.9
    return { lines: lines.length > 1 ? wrapped(text, size, narrow) : lines, size }
  })
  return two.size > 0.75 * most ? two : three
}

/**
 * Every second, third, ... of the numbers that were asked for, so that none lies on its neighbour.
 * @param {Axis} axis
 * @param {boolean} across
 * @param {number} room
 * @param {number} letters
 */
function thinnedTicks(axis, across, room, letters) {
  const values = valuesOf(axis.tickvals)
  const texts = axis.ticktext ? valuesOf(axis.ticktext).map(String) : values.map(String)
  const [from, to] = axis.range ?? [Number(values[0]) - 0.5, Number(values[values.length - 1]) + 0.5]
  const span = Math.abs(to - from) || 1
  /** @type {(value: unknown) => number} */
  const on = (value) => (axis.type === "log" && axis.range ? Math.log10(Number(value)) : Number(value))
  const least = Math.min(...values.slice(1).map((value, i) => Math.abs(on(value) - on(values[i]))), span)
  const wanted = across ? Math.max(...texts.map((text) => widthOf(text, letters))) + 0.8 * letters : 1.15 * letters
  const every = Math.max(1, Math.ceil(wanted / ((least / span) * room)))
  const kept = values.map((_, i) => i % every === 0)
  return { tickvals: values.filter((_, i) => kept[i]), ticktext: texts.filter((_, i) => kept[i]) }
}

/**
 * @param {Layout} axis of colours
 * @param {number} letters
 */
function stagedScale(axis, letters) {
  const title = { ...axis.colorbar?.title, font: { size: letters, family: FONTS } }
  const colorbar = { ...axis.colorbar, title, thickness: letters, tickfont: { size: letters, family: FONTS } }
  return { ...axis, colorbar }
}

const MOST_POINTS = 440 // of a curve: half of a slide's width
const MOST_CONTOURS = 14
const POINT = 6 // pixels, where nothing is said: as Plotly draws it

/**
 * A long curve as it is thinned on the page, with its spikes, but further.
 * @param {Trace} trace
 */
function fewerPoints({ x, y, fill, type }) {
  if (type === "contour") return { ncontours: MOST_CONTOURS }
  if (type && type !== "scatter") return {}
  const [across, up] = [valuesOf(x), valuesOf(y)]
  const rises = across.every((value, i) => typeof value === "number" && (!i || value >= Number(across[i - 1])))
  return rises && !fill && across.length > MOST_POINTS
    ? thinned({ x: across, y: /** @type {Value[]} */ (up) }, MOST_POINTS)
    : {}
}

/**
 * @param {Trace} trace
 * @param {number} place
 * @param {number} grown
 * @param {string[]} papers
 * @param {string} paper
 * @returns {Trace}
 */
function stagedTrace(trace, place, grown, papers, paper) {
  /** @type {Trace} */
  const made = {
    ...trace,
    ...fewerPoints(trace),
    uid: `t${place}`,
    hoverinfo: "skip",
    hovertemplate: null,
    showlegend: false,
  }
  const { line } = trace
  if (line) {
    const color = papers.includes(line.color) ? paper : line.color
    made.line = { ...line, color, width: (line.width ?? 2) * grown }
  }
  const marker = /** @type {{ size?: number | number[], line?: { width?: number } } | undefined} */ (trace.marker)
  const pointed = marker?.size !== undefined || String(trace.mode).includes("markers")
  if (pointed && trace.type !== "bar") {
    const { size = POINT } = marker ?? {}
    made.marker = { ...marker, size: Array.isArray(size) ? size.map((s) => s * grown) : size * grown }
  }
  return made
}
