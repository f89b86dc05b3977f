// @ts-check
// What the findings of a sweep are put together from, on whichever page: panels, tables, and charts in their boxes.
import { tellChart } from "./chart_access.js"
import { drawnNow } from "./figure_source.js"
import { element } from "./live_elements.js"
import { fitted, plotConfig } from "./plot_parts.js"

/** @import { Figure, FigureSource, PlotlyLibrary, SweepMessage, Theme } from "./types.d.ts" */

export const HEIGHT = 380

/**
 * @param {string} name
 * @param {string} alt
 */
export function chartBox(name, alt) {
  const box = element("div", { className: "lab-plot", role: "figure", ariaLabel: alt })
  box.style.minHeight = `${fitted(HEIGHT)}px`
  box.dataset.alt = alt
  box.dataset.chart = name
  return box
}

/**
 * What an exported figure of a sweep's is made of.
 * @param {Pick<SweepMessage, "about" | "slug" | "templates" | "plotlyUrl">} message
 * @param {Theme} theme
 * @param {string} name
 * @param {string} title
 * @param {HTMLElement} box
 * @returns {FigureSource}
 */
export function sourceIn({ about, slug, templates, plotlyUrl }, theme, name, title, box) {
  return {
    name,
    title,
    about,
    slug,
    templates,
    plotlyUrl,
    theme,
    lanes: false,
    now: () => drawnNow(box, { data: [], layout: {} }),
  }
}

/**
 * @param {PlotlyLibrary} Plotly
 * @param {HTMLElement} box
 * @param {Figure} figure
 * @param {{ revision: string, source: FigureSource }} how
 */
export async function drawFigure(Plotly, box, figure, { revision, source }) {
  const layout = {
    ...figure.layout,
    template: source.templates[source.theme],
    height: fitted(HEIGHT),
    autosize: true,
    font: { size: box.offsetWidth < 520 ? 11 : 13 },
    uirevision: revision,
  }
  await Plotly.react(box, figure.data, layout, plotConfig(Plotly, box, source))
  tellChart(box, box.dataset.alt ?? source.title, { Plotly })
  box.classList.add("lab-chart")
  box.dataset.drawn = String(Number(box.dataset.drawn ?? 0) + 1)
}

/**
 * @param {string} title
 * @param {Node | string} tools
 * @param {Element[]} content
 * @param {string} note
 * @param {boolean} [wide]
 */
export function panel(title, tools, content, note, wide = false) {
  const head = element(
    "div",
    { className: "lab-head" },
    element("span", { className: "lab-title", textContent: title }),
    tools,
  )
  const below = note ? [element("p", { className: "lab-note", textContent: note })] : []
  return element("section", { className: wide ? "lab-panel lab-wide" : "lab-panel" }, head, ...content, ...below)
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function tableOf(head, rows) {
  const cells = (/** @type {"td" | "th"} */ tag, /** @type {string[]} */ texts) =>
    element("tr", {}, ...texts.map((textContent, i) => cell(i || !textContent ? tag : "th", textContent, tag === "th")))
  const cell = (/** @type {"td" | "th"} */ tag, /** @type {string} */ textContent, /** @type {boolean} */ above) =>
    tag === "td" || !textContent
      ? element("td", { textContent })
      : element("th", { textContent, scope: above ? "col" : "row" })
  return element(
    "table",
    {},
    element("thead", {}, cells("th", head)),
    element("tbody", {}, ...rows.map((row) => cells("td", row))),
  )
}
