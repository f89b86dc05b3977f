// @ts-check
// A Plotly figure that is drawn once and updated in place.
import { tellChart } from "./chart_access.js"
import { forgetPlayer, playerOf } from "./chart_frames.js"
import { framesOf } from "./figure_frames.js"
import { drawnNow, exportable } from "./figure_source.js"
import { fitted, isDark, isLow, loadPlotly, plotConfig, readData } from "./plot_parts.js"

/** @import { ChartData, Component, FigureSource, Layout, Theme } from "./types.d.ts" */

const LEAST_HEIGHT = 240 // pixels
const MARGINS = 48 // above and below a chart that is alone in its frame: its toolbar, and the page's own
const PLAYER = 40 // below a chart that moves

/** @type {WeakMap<HTMLElement, { theme: Theme, component: Component }>} */
const shown = new WeakMap() // by box: after every click the page sends all its charts again, mostly as they were

/**
 * @param {HTMLElement} box
 * @param {ChartData} data
 * @param {Theme} theme
 */
async function draw(box, data, theme) {
  exportable(box, sourceOfChart(box, data, theme))
  box.toggleAttribute("data-partial", data.partial)
  const Plotly = await loadPlotly(data.plotlyUrl)
  await displayed(box)
  const narrow = box.offsetWidth < 520
  const { sliders, ...own } = data.figure.layout // Plotly's slider knows no keys: chart_frames.js has one that does
  const layout = {
    ...own,
    template: data.templates[theme],
    height: heightOf(data),
    autosize: true,
    ...(narrow || isLow() ? { font: { size: 12 } } : {}),
    ...(narrow ? panelTitles(own) : {}),
  }
  await Plotly.react(box, {
    data: data.figure.data,
    layout,
    frames: data.figure.frames,
    config: plotConfig(Plotly, box, sourceOfChart(box, data, theme)),
  })
  const tell = () => tellChart(box, data.alt, { Plotly })
  tell()
  const bar = /** @type {HTMLElement | null} */ (box.parentElement?.querySelector(":scope > .lab-frames"))
  const player = bar && data.figure.frames?.length && playerOf(Plotly, box, bar, data.figure, tell)
  box.dataset.drawn = String(Number(box.dataset.drawn ?? 0) + 1)
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  if (player && data.play && !still && box.dataset.played === undefined) {
    box.dataset.played = "yes"
    player.play()
  }
}

/**
 * Titles of panels beside each other in two lines, where one would lie over the next.
 * @param {Layout} layout
 */
function panelTitles({ annotations = [], margin }) {
  /** @type {Layout[]} */
  const all = annotations
  const isTitle = (/** @type {Layout} */ { text = "", yref }) => yref === "paper" && text.startsWith("<b>")
  if (all.filter(isTitle).length < 2) return {}
  const inTwo = (/** @type {Layout} */ one) => ({
    ...one,
    text: one.text.replace(/ (?=[^ ]*$)/, "<br>"),
    font: { size: 12 },
  })
  return {
    annotations: all.map((one) => (isTitle(one) ? inTwo(one) : one)),
    margin: { ...margin, t: (margin?.t ?? 0) + 16 },
  }
}

/** @param {ChartData} data */
const heightOf = ({ fill, height, figure }) =>
  fill ? Math.max(LEAST_HEIGHT, innerHeight - MARGINS - (figure.frames?.length ? PLAYER : 0)) : fitted(height)

/**
 * @param {HTMLElement} box
 * @param {ChartData} data
 * @param {Theme} theme
 * @returns {FigureSource}
 */
function sourceOfChart(box, data, theme) {
  const { name, templates, plotlyUrl, figure } = data
  const title = data.title || data.alt
  const source = {
    name,
    title,
    ...figure.told,
    templates,
    theme,
    plotlyUrl,
    lanes: false,
    now: () => drawnNow(box, figure),
  }
  if (!figure.frames?.length) return source
  return {
    ...source,
    moments: (/** @type {number} */ most) => framesOf({ ...figure, ...drawnNow(box, figure) }, title, most),
  }
}

/**
 * A box that is not on the screen has no size, and what is drawn in it has places that are no numbers.
 * @param {HTMLElement} box
 * @returns {Promise<void>}
 */
function displayed(box) {
  return new Promise((resolve) => {
    const observer = new ResizeObserver(() => {
      if (!box.offsetWidth) return
      observer.disconnect()
      resolve()
    })
    observer.observe(box) // it also tells of the size that the box has now
  })
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
function sameBytes(one, other) {
  return one.length === other.length && one.every((byte, i) => byte === other[i])
}

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const box = /** @type {HTMLElement} */ (parentElement.querySelector(".lab-chart"))
  const theme = isDark(parentElement) ? "dark" : "light"
  const leave = () => {
    if (shown.get(box)?.component !== component) return // a rerun came before this call was over: it is ended late
    shown.delete(box)
    forgetPlayer(box)
    window.Plotly?.purge(box)
  }
  const known = shown.get(box)
  shown.set(box, { theme, component })
  if (known?.theme === theme && sameBytes(known.component.data, component.data)) return leave
  /** @type {ChartData} */
  const data = readData(component.data)
  box.setAttribute("aria-label", data.alt)
  box.style.minHeight = `${heightOf(data)}px`
  draw(box, data, theme).catch((error) => {
    shown.delete(box)
    box.textContent = `The chart could not be drawn: ${error.message}. Reload the page to try again.`
  })
  return leave
}
