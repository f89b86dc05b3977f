// @ts-check
// Which chart a panel is, by its name: most are what the server drew, with their traces filled.
import { LiveChart } from "./live_chart.js"
import { LayerChart, OverlayChart, RidgeChart } from "./live_histograms.js"

/** @import { LaneHistory } from "./live_history.js" */
/** @import { Figure } from "./types.d.ts" */

const [AXIS, NOTE] = [46, 38] // pixels: the numbers and the title of the axis of steps, and two lines below them

/** The spread of psi, and below it how many parameters are not in it. */
class SpreadChart extends LiveChart {
  /**
   * @override
   * @param {number} width
   * @returns {Figure}
   */
  figure(width) {
    const figure = super.figure(width)
    const shown = this.live.runs[0].history.lanes.filter((_, k) => !this.live.hidden.has(`0:${k}`))
    const text = leftOut(shown)
    if (!text) return figure
    const { annotations = [], ...layout } = figure.layout
    const below = { xref: "paper", yref: "paper", x: 0, y: 0, xanchor: "left", yanchor: "top", yshift: -AXIS }
    const note = { ...below, text, showarrow: false, align: "left" }
    const margin = { ...layout.margin, b: AXIS + NOTE }
    return { ...figure, layout: { ...layout, margin, annotations: [...annotations, note] } }
  }
}

/**
 * How many parameters the lanes' latest spread of psi leaves out, in words.
 * @param {LaneHistory[]} lanes
 */
export function leftOut(lanes) {
  const latest = lanes.map(({ histograms }) => histograms.at(-1)?.spread).filter((one) => one && "psi_across" in one)
  if (!latest.length) return ""
  /** @type {(name: string) => string} */
  const range = (name) => {
    const counts = latest.map((one) => one?.[name] ?? 0)
    const ends = [Math.min(...counts), Math.max(...counts)].map((count) => count.toLocaleString("en"))
    return [...new Set(ends)].join(" to ")
  }
  return `left out: ${range("rounding")} parameters with rounding<br>for a gradient, ${range("no_gradient")} with none so far`
}

/** @type {Partial<Record<string, typeof LiveChart>>} */
export const CHARTS = { ridges: RidgeChart, overlay: OverlayChart, layers: LayerChart, variance: SpreadChart }
