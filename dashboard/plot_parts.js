// What still and live charts share: one plotly.js for the page, light or dark, and buttons that save for a slide.
const PLOTLY = "radamLabPlotly"

function loadPlotly(url) {
  // One script for all charts of the page; a failed load may be tried again.
  window[PLOTLY] ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = url
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => {
      delete window[PLOTLY]
      reject(new Error("plotly.js did not load"))
    }
    document.head.append(script)
  })
  return window[PLOTLY]
}

function isDark(element) {
  const color = getComputedStyle(element).getPropertyValue("--st-background-color").trim()
  const context = document.createElement("canvas").getContext("2d")
  context.fillStyle = color || "#ffffff"
  const [r, g, b] = context.fillStyle.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16))
  return 0.299 * r + 0.587 * g + 0.114 * b < 128
}

function saveButton(Plotly, format, filename, layout) {
  return {
    name: `save-${format}`,
    title: format === "png" ? "Save as PNG (3x)" : "Save as SVG",
    icon: format === "png" ? Plotly.Icons.camera : Plotly.Icons.disk,
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

// The same object for a box each time: to Plotly another one, as another function for a button makes it, is another
// plot, drawn anew with its zoom forgotten. `saved` is layout that only a saved image gets, such as a legend.
const configs = new WeakMap()

function plotConfig(Plotly, box, filename, saved) {
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
  }
  configs.set(box, { small, config })
  return config
}
