// @ts-check
// What still and live charts share: one plotly.js for the page, light or dark, and a button that exports it.
import { exportable } from "./figure_source.js"

/** @import { FigureSource, PlotlyLibrary } from "./types.d.ts" */

/**
 * A component's data come as JSON in bytes: the server made most of it once, for everybody.
 * @param {Uint8Array} bytes
 */
export const readData = (bytes) => JSON.parse(new TextDecoder().decode(bytes))

/**
 * One script for all charts of the page; a failed load may be tried again.
 * @param {string} url
 * @returns {Promise<PlotlyLibrary>}
 */
export function loadPlotly(url) {
  window.radamLabPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = url
    script.onload = () => resolve(/** @type {PlotlyLibrary} */ (window.Plotly))
    script.onerror = () => {
      delete window.radamLabPlotly
      reject(new Error("plotly.js did not load"))
    }
    document.head.append(script)
  })
  return window.radamLabPlotly
}

/** @param {Element} element */
export function isDark(element) {
  const color = getComputedStyle(element).getPropertyValue("--st-background-color").trim()
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"))
  context.fillStyle = color || "#ffffff"
  const [r, g, b] = (context.fillStyle.match(/[0-9a-f]{2}/gi) ?? []).map((part) => parseInt(part, 16))
  return 0.299 * r + 0.587 * g + 0.114 * b < 128
}

const LOW = 480 // pixels of a window's height: a telephone on its side, or a laptop at 200%

export const isLow = () => innerHeight <= LOW

/**
 * A chart's height, of which a low window shows as much as leaves room for a control.
 * @param {number} height
 */
export const fitted = (height) => (isLow() ? Math.min(height, Math.max(180, innerHeight / 2)) : height)

/** @param {PlotlyLibrary} Plotly */
const exportButton = (Plotly) => ({
  name: "export-figure",
  title: "Export figure",
  icon: Plotly.Icons.camera,
  click: (/** @type {Element} */ box) => import("./figure_panel.js").then(({ openPanel }) => openPanel(box)),
})

/** @type {WeakMap<Element, { small: boolean, config: object }>} */
const configs = new WeakMap()

/**
 * The same object for a box each time: to Plotly another one, as another function for a button makes it, is another
 * plot, drawn anew with its zoom forgotten.
 * @param {PlotlyLibrary} Plotly
 * @param {Element} box
 * @param {FigureSource} source what an exported figure is made of
 * @param {object} [more] of Plotly's settings
 * @returns {object}
 */
export function plotConfig(Plotly, box, source, more = {}) {
  exportable(box, source)
  const small = matchMedia("(max-width: 640px), (hover: none)").matches // a telephone has no room and nothing hovers
  const known = configs.get(box)
  if (known?.small === small) return known.config
  const own = [exportButton(Plotly)]
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: small || "hover",
    scrollZoom: false,
    modeBarButtons: small ? [own] : [own, ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]],
    ...more,
  }
  configs.set(box, { small, config })
  return config
}
