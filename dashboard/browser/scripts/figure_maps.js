// @ts-check
// Heatmaps as rectangles and letters: Plotly draws them as a bitmap, which no vector figure should hold.
import { valuesOf } from "./figure_values.js"

/** @import { Layout, Trace } from "./types.d.ts" */

// The scale of our maps by its name, at 9 evenly spaced places, as Plotly has it.
const VIRIDIS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
]

/**
 * The traces without heatmaps, and the rectangles that stand for them.
 * @param {Trace[]} data
 * @param {Layout} layout
 * @param {number} letters
 */
export function vectorMaps(data, layout, letters) {
  const { cmin = 0, cmax = 1, reversescale = false } = layout.coloraxis ?? {}
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
        const place = (value - cmin) / (cmax - cmin || 1)
        const rgb = colourAt(reversescale ? 1 - place : place)
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
        written.text.push(text[r][c])
        written.color.push(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140 ? "#1b2430" : "#ffffff")
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

/** @param {number} place from 0 to 1 */
function colourAt(place) {
  const at = Math.max(0, Math.min(1, place)) * (VIRIDIS.length - 1)
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2)
  return VIRIDIS[low].map((value, i) => Math.round(value + (at - low) * (VIRIDIS[low + 1][i] - value)))
}
