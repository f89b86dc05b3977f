// @ts-check
// What a sweep has found: curves, a table, and what foretold a failure.
import { chartBox, drawFigure, panel, tableOf } from "./findings_parts.js"
import { element, escaped } from "./live_elements.js"
import { loadPlotly } from "./plot_parts.js"

/** @import { SweepPage } from "./sweep.js" */
/** @import { Figure, Findings, Value } from "./types.d.ts" */

const [LEARNED, FAILED] = [
  { name: "learned", color: "#0072B2", symbol: "circle" },
  { name: "did not learn", color: "#D55E00", symbol: "x" },
]

const TITLES = {
  rates: "Final loss against the learning rate",
  courses: "Each method at its best cell",
  signs: "Two early measures",
}

export class SweepFindings {
  /** @param {SweepPage} page */
  constructor(page) {
    this.page = page
    this.charts = {
      rates: chartBox("rates", "Final loss against the learning rate, mean and range over the seeds"),
      courses: chartBox("courses", "Loss over the steps of each method at its best cell"),
      signs: chartBox("signs", "Two early measures of every lane against each other"),
    }
    this.table = element("div", { className: "lab-table" })
    this.signs = element("div", { className: "lab-table" })
    this.told = element("p", { className: "lab-note" })
    this.axes = ["across", "up"].map((ariaLabel) => element("select", { ariaLabel, onchange: () => this.draw() }))
    const [x, y] = this.axes
    this.early = [
      panel(
        "What foretells failure?",
        "",
        [this.told, this.signs],
        "AUC for “does not learn” over all lanes that are done, by what was measured at steps 10, 25 and 50. Which side warns was fixed before any sweep was run.",
      ),
      panel(TITLES.signs, element("span", {}, "across ", x, " up ", y), [this.charts.signs], "A point is a lane."),
    ]
    this.box = element(
      "div",
      { className: "lab-grid", hidden: true },
      panel("How forgiving is each method?", "", [this.table], "", true),
      panel(
        TITLES.rates,
        "",
        [this.charts.rates],
        "Mean of the last 20 steps, over the seeds; the band is their range. A lane that diverged counts with its first loss.",
      ),
      panel(
        TITLES.courses,
        "",
        [this.charts.courses],
        "The cell with the lowest mean final loss of all that are done; the band is the range over its seeds.",
      ),
      ...this.early,
    )
    /** @type {Findings | null} */
    this.found = null
    this.resized = new ResizeObserver(() => this.draw())
    this.resized.observe(this.box)
  }

  /** @param {Findings | null} found */
  show(found) {
    this.found = found
    this.box.hidden = !found
    if (!found) return
    for (const box of this.early) box.style.display = this.page.sweep?.early ? "" : "none"
    this.table.replaceChildren(tableOf(found.table.head, found.table.rows))
    this.told.textContent = found.sign_sentences.join(" ")
    this.signs.hidden = found.signs.every(({ auc }) => auc.every((value) => value === null))
    this.signs.replaceChildren(signsTable(found.signs))
    this.offer(found)
    this.draw()
  }

  /** @param {Findings} found */
  offer({ points }) {
    const names = points.measures.map(({ label }) => label)
    this.axes.forEach((select, i) => {
      if ([...select.options].map(({ value }) => value).join() === names.join()) return
      const before = select.value
      select.replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })))
      const first = names.filter((name) => name.startsWith(i ? "median" : "‖update‖"))[0] ?? names[i] ?? ""
      select.value = names.includes(before) ? before : first
    })
  }

  async draw() {
    const { found, page } = this
    if (!found || !this.box.offsetWidth) return
    const Plotly = await loadPlotly(String(page.plotlyUrl))
    if (page.closed) return
    const figures = { ...found.figures, signs: this.scatter(found) }
    for (const [name, figure] of Object.entries(figures)) {
      const box = this.charts[/** @type {keyof SweepFindings["charts"]} */ (name)]
      if (!box.offsetWidth) continue
      await drawFigure(Plotly, box, figure, {
        revision: `${page.sweep?.revision}-${name}`,
        source: page.source(name, TITLES[/** @type {keyof typeof TITLES} */ (name)], box),
      })
    }
  }

  /** @param {Findings} found */
  scatter({ points }) {
    const [x, y] = this.axes.map((select) => points.measures.find(({ label }) => label === select.value))
    const data = [LEARNED, FAILED].map(({ name, color, symbol }, failed) => {
      const own = points.learned.flatMap((learned, place) => (learned !== null && learned === !failed ? [place] : []))
      return {
        type: "scatter",
        mode: "markers",
        name,
        marker: { color, symbol, size: 8, opacity: 0.75 },
        x: own.map((place) => x?.values[place] ?? null),
        y: own.map((place) => y?.values[place] ?? null),
        text: own.map((place) => escaped(points.labels[place])),
        hovertemplate: "%{text}<extra></extra>",
      }
    })
    const layout = { hovermode: "closest", showlegend: true, xaxis: axis(x), yaxis: axis(y) }
    return /** @type {Figure} */ (/** @type {unknown} */ ({ data, layout }))
  }

  close() {
    this.resized.disconnect()
    for (const box of Object.values(this.charts)) window.Plotly?.purge(box)
  }
}

/**
 * On a log scale where the values are all above 0 and span more than a power of ten.
 * @param {{ label: string, values: Value[] } | undefined} measure
 */
function axis(measure) {
  const values = (measure?.values ?? []).filter((value) => value !== null)
  const log = values.length > 0 && Math.min(...values) > 0 && Math.max(...values) > 10 * Math.min(...values)
  return { title: { text: measure?.label ?? "" }, type: log ? "log" : "linear" }
}

/**
 * The measures reading by reading: whose each is stands above them.
 * @param {Findings["signs"]} signs
 */
function signsTable(signs) {
  const table = tableOf(
    ["measure", "warns when", "step 10", "25", "50", "lanes"],
    signs.map(({ label, warns, auc, cells }) => [label, warns, ...auc.map((text) => text ?? "–"), String(cells)]),
  )
  const rows = [...(table.tBodies[0]?.rows ?? [])]
  signs.forEach(({ reading }, i) => {
    if (reading === signs[i - 1]?.reading) return
    const head = element("th", { className: "lab-reading", colSpan: 6, scope: "rowgroup", textContent: reading })
    rows[i].before(element("tr", {}, head))
  })
  return table
}
