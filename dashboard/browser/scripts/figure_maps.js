// @ts-check
// Heatmaps as rectangles and letters: Plotly draws them as a bitmap, which no vector figure should hold.
import { valuesOf } from "./figure_values.js"

/** @import { Layout, Trace, Value } from "./types.d.ts" */

const INKS = ["#000000", "#ffffff"] // on every colour one of the two has a contrast of 4.58 or more
const LETTER = 0.56 // of their size: how wide they are
const SCALE = 100 // pixels: the scale of the colours, and what is left free around a map

/**
 * Maps whose numbers have the ink that is read best on their own cells, and fit into them: Plotly's stand out too little
 * from half of the colours, and it takes a colour's own letters for a part of the number's.
 * @param {Trace[]} data
 * @param {Layout} layout
 * @param {number} width of the whole figure
 * @param {number} letters
 * @returns {Trace[]}
 */
export function inked(data, layout, width, letters) {
  const colour = coloursOf(layout)
  const axes = Object.keys(layout).filter((name) => /^yaxis\d*$/.test(name))
  const beside = LETTER * letters * longest(axes.map((name) => layout[name].ticktext ?? [])) + SCALE
  return data.map((trace) => {
    const words = /** @type {string[][] | undefined} */ (trace.text)
    if (trace.type !== "heatmap" || !trace.texttemplate || !words) return trace
    const z = /** @type {Value[][]} */ (trace.z)
    const cell = (width - beside) / (z[0]?.length || 1)
    const text = words.map((row, r) =>
      row.map((word, c) => {
        const value = z[r][c]
        return word && value !== null ? `<span style="color:${inkOn(colour(value))}">${word}</span>` : word
      }),
    )
    return { ...trace, text, textfont: { size: Math.min(letters, cell / (LETTER * (longest(words) + 1))) } }
  })
}

/** @param {string[][]} rows */
const longest = (rows) => Math.max(0, ...rows.flat().map((word) => word.length))

/**
 * The traces without heatmaps, and the rectangles that stand for them.
 * @param {Trace[]} data
 * @param {Layout} layout
 * @param {number} letters
 */
export function vectorMaps(data, layout, letters) {
  const { cmin = 0, cmax = 1 } = layout.coloraxis ?? {}
  const colour = coloursOf(layout)
  /** @type {object[]} */
  const shapes = []
  const traces = data.flatMap((trace) => {
    if (trace.type !== "heatmap") return [trace]
    const z = /** @type {(number | null)[][]} */ (trace.z)
    const text = /** @type {string[][] | undefined} */ (trace.texttemplate ? trace.text : undefined)
    const [xs, ys] = [trace.x, trace.y].map((own) => (own ? valuesOf(own) : null))
    const [xref, yref] = [trace.xaxis ?? "x", trace.yaxis ?? "y"]
    /** @type {{ x: unknown[], y: unknown[], text: string[], color: string[] }} */
    const written = { x: [], y: [], text: [], color: [] }
    z.forEach((row, r) => {
      row.forEach((value, c) => {
        if (value === null || value === undefined) return
        const rgb = colour(value)
        shapes.push({
          type: "rect",
          layer: "below",
          xref,
          yref,
          x0: c - 0.47,
          x1: c + 0.47,
          y0: r - 0.46,
          y1: r + 0.46,
          fillcolor: `rgb(${rgb.join()})`,
          line: { width: 0 },
        })
        if (!text?.[r]?.[c]) return
        written.x.push(xs?.[c] ?? c)
        written.y.push(ys?.[r] ?? r)
        written.text.push(text[r][c].replace(/<[^>]*>/g, ""))
        written.color.push(inkOn(rgb))
      })
    })
    const rows = z.length
    const letter = {
      ...{ type: "scatter", mode: "text", name: trace.name, xaxis: xref, yaxis: yref, showlegend: false },
      ...{ x: written.x, y: written.y, text: written.text, cliponaxis: false },
      textfont: { color: written.color, size: letters },
    }
    // Where nothing is written the axes still have to span the map; and a scale of colours needs a trace that has one.
    const span = {
      ...{ type: "scatter", mode: "markers", xaxis: xref, yaxis: yref, showlegend: false, hoverinfo: "skip" },
      x: [xs?.[0] ?? 0, xs?.[(z[0]?.length ?? 1) - 1] ?? (z[0]?.length ?? 1) - 1],
      y: [ys?.[0] ?? 0, ys?.[rows - 1] ?? rows - 1],
      marker: { color: [cmin, cmax], coloraxis: "coloraxis", size: 0.001, opacity: 0 },
    }
    return /** @type {Trace[]} */ (/** @type {unknown} */ ([span, letter]))
  })
  return { traces, shapes }
}

/**
 * The colour of a value on the scale that a layout's maps share.
 * @param {Layout} layout
 * @returns {(value: number) => number[]}
 */
function coloursOf({ coloraxis = {} }) {
  const { cmin = 0, cmax = 1, reversescale = false } = coloraxis
  const stops = /** @type {[number, string][]} */ (coloraxis.colorscale ?? [])
  const places = stops.map(([place]) => place)
  const colours = stops.map(([, hex]) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)))
  return (value) => {
    const share = Math.max(0, Math.min(1, (value - cmin) / (cmax - cmin || 1)))
    const place = reversescale ? 1 - share : share
    const high = Math.max(
      1,
      places.findIndex((stop) => stop >= place),
    )
    const part = (place - places[high - 1]) / (places[high] - places[high - 1])
    return colours[high].map((end, i) => Math.round(colours[high - 1][i] + part * (end - colours[high - 1][i])))
  }
}

/**
 * Black or white, whichever has more contrast as WCAG 2 computes it.
 * @param {number[]} rgb
 */
export function inkOn(rgb) {
  const [r, g, b] = rgb.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4))
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return INKS[(light + 0.05) ** 2 > 0.05 * 1.05 ? 0 : 1]
}
