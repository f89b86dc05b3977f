// @ts-check
// Which chart a panel is, by its name: most are what the server drew, with their traces filled.
import { LiveChart } from "./live_chart.js"
import { LayerChart, OverlayChart, RidgeChart } from "./live_histograms.js"

/** @import { LaneHistory } from "./live_history.js" */
/** @import { Figure } from "./types.d.ts" */

/** The spread of psi, and below it how many parameters are not in it. */
class SpreadChart extends LiveChart {
  /**
   * @override
   * @param {number} width
   * @returns {Figure}
   */
  figure(width) {
    const figure = super.figure(width)
    const { annotations = [], ...layout } = figure.layout
    const lowest = Object.keys(layout).filter((name) => name.startsWith("yaxis")).length // the panel of `psi_across`
    const place = { xref: "x domain", yref: `y${lowest > 1 ? lowest : ""} domain`, x: 0.01, y: 0.03 }
    const [run] = this.live.runs
    const shown = run.history.lanes.filter((_, k) => !this.live.hidden.has(`0:${k}`))
    const text = leftOut(shown)
    const note = { ...place, text, showarrow: false, align: "left", xanchor: "left", yanchor: "bottom" }
    return { ...figure, layout: { ...layout, annotations: text ? [...annotations, note] : annotations } }
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
