// @ts-check
// What still and live charts share: one plotly.js for the page, light or dark, and buttons that save for a slide.

/** @import { Layout, PlotlyLibrary } from "./types.d.ts" */

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

/**
 * @param {PlotlyLibrary} Plotly
 * @param {"png" | "svg"} format
 * @param {string} filename
 * @param {Layout} [layout]
 */
function saveButton(Plotly, format, filename, layout) {
  return {
    name: `save-${format}`,
    title: format === "png" ? "Save as PNG (3x)" : "Save as SVG",
    icon: format === "png" ? Plotly.Icons.camera : Plotly.Icons.disk,
    /** @param {HTMLElement & { data: object[], layout: Layout }} graph */
    click: (graph) =>
      Plotly.downloadImage(layout ? { data: graph.data, layout: { ...graph.layout, ...layout } } : graph, {
        format,
        filename,
        width: graph.offsetWidth,
        height: graph.offsetHeight,
        scale: format === "png" ? 3 : 1,
      }),
  }
}

/** @type {WeakMap<Element, { small: boolean, config: object }>} */
const configs = new WeakMap()

/**
 * The same object for a box each time: to Plotly another one, as another function for a button makes it, is another
 * plot, drawn anew with its zoom forgotten. `saved` is layout that only a saved image gets, such as a legend.
 * @param {PlotlyLibrary} Plotly
 * @param {Element} box
 * @param {string} filename
 * @param {Layout} [saved]
 * @param {object} [more] of Plotly's settings
 * @returns {object}
 */
export function plotConfig(Plotly, box, filename, saved, more = {}) {
  const small = matchMedia("(max-width: 640px), (hover: none)").matches // a telephone has no room and nothing hovers
  const known = configs.get(box)
  if (known?.small === small) return known.config
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: small ? false : "hover",
    scrollZoom: false,
    modeBarButtons: [
      [saveButton(Plotly, "png", filename, saved), saveButton(Plotly, "svg", filename, saved)],
      ["zoom2d", "pan2d", "autoScale2d"],
    ],
    ...more,
  }
  configs.set(box, { small, config })
  return config
}
