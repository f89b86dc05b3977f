// @ts-check
// The maps of a sweep: a heatmap a contender, coloured by what its lanes have come to.
import { escaped, shortNumber } from "./live_elements.js"
import { halfDecades, needsLine } from "./sweep_cells.js"

/** @import { Cells } from "./sweep_cells.js" */
/** @import { Figure, Layout, MapQuantity, MapTrace, Sweep, Trace, Value } from "./types.d.ts" */

const TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000]

/**
 * The figure with everything filled in that is known at a point of the runs.
 * @param {Figure} figure
 * @param {Cells} cells
 * @param {{ point: number, quantity: MapQuantity, needs: (number | null)[][], chosen: Set<number>, sweep: Sweep }} state
 */
export function filledMaps(figure, cells, { point, quantity, needs, chosen, sweep }) {
  const scale = quantity === "learned" || (quantity === "metric" && sweep.better === "higher") ? "share" : "log"
  const below = (/** @type {number} */ place) => learnedBelow(sweep, cells, place)
  /** @type {number[]} */
  const seen = []
  const data = figure.data.map((trace) => {
    const meta = /** @type {{ cells?: number[][][], needs?: number }} */ (trace.meta ?? {})
    if (meta.needs !== undefined)
      return { ...trace, ...needsLine(needs[meta.needs] ?? []), meta: { ...meta, again: true } } // between the cells
    if (!meta.cells) return trace
    return mapTrace(/** @type {MapTrace} */ (/** @type {unknown} */ (trace)), meta.cells)
  })
  /** @type {Layout} */
  const layout = { ...figure.layout, coloraxis: colours(figure.layout.coloraxis), shapes: frames(figure, chosen) }
  for (const trace of data) if ("z" in trace && scale === "log") clampLost(/** @type {MapTrace} */ (trace), layout)
  return { data, layout }

  /**
   * @param {MapTrace} trace
   * @param {number[][][]} rows
   */
  function mapTrace(trace, rows) {
    const found = rows.map((row) => row.map((places) => cells.summary(places, point, quantity, below)))
    const z = found.map((row) => row.map((cell) => (cell === null ? null : colour(cell.value, cell.lost))))
    const text = found.map((row) => row.map((cell) => (cell === null ? "" : written(cell))))
    const customdata = rows.map((row, r) => row.map((places, c) => told(trace, places, found[r][c])))
    const values = found.map((row) => row.map((cell) => cell?.value ?? null))
    return { ...trace, z, text, customdata, meta: { cells: rows, values } }
  }

  /**
   * @param {Value} value
   * @param {number} lost
   */
  function colour(value, lost) {
    if (scale === "share") return value ?? 0
    if (value === null) return lost ? Number.POSITIVE_INFINITY : null
    const shade = Math.log10(Math.max(value, 1e-4))
    seen.push(shade)
    return shade
  }

  /** @param {{ value: Value, lost: number }} cell */
  function written({ value, lost }) {
    const mark = lost && quantity !== "learned" ? "✕" : ""
    if (value === null) return mark
    return `${scale === "share" ? `${Math.round(100 * value)}%` : String(Number(value.toPrecision(2)))}${mark}`
  }

  /**
   * @param {MapTrace} trace
   * @param {number[]} places
   * @param {{ value: Value, lost: number, values: Value[] } | null} cell
   */
  function told(trace, places, cell) {
    const name = escaped(sweep.labels[places[0]] ?? trace.name)
    if (!cell) return `${name}<br>not begun`
    const steps = places.map((place) => sweep.grid[Math.min(point, cells.reached(place))] ?? 0)
    const values = cell.values.map((value) => (value === null ? "diverged" : shortNumber(value))).join(", ")
    const what = quantity === "metric" ? (sweep.metric ?? "") : "loss"
    return `${name}${places.length > 1 ? ` and ${places.length - 1} more` : ""}<br>${what} ${values}<br>step ${Math.max(...steps)}`
  }

  /** @param {Layout} axis */
  function colours(axis) {
    if (scale === "share") {
      const title = quantity === "learned" ? "learned" : (sweep.metric ?? "")
      const colorbar = {
        ...axis.colorbar,
        title: { text: title },
        tickformat: ".0%",
        tickvals: undefined,
        ticktext: undefined,
      }
      return { ...axis, cmin: 0, cmax: 1, reversescale: true, colorbar }
    }
    const [cmin, cmax] = halfDecades(seen)
    const ticks = TICKS.filter((value) => Math.log10(value) >= cmin - 0.01 && Math.log10(value) <= cmax + 0.01)
    const title = quantity === "metric" ? (sweep.metric ?? "") : "loss"
    const colorbar = {
      ...axis.colorbar,
      title: { text: title },
      tickvals: ticks.map(Math.log10),
      ticktext: ticks.map(String),
    }
    return { ...axis, cmin, cmax, reversescale: false, colorbar }
  }
}

/**
 * Below what a lane's loss has learned: half of the task's baseline, or of its own first loss.
 * @param {Sweep} sweep
 * @param {Cells} cells
 * @param {number} place
 */
export function learnedBelow(sweep, cells, place) {
  const reference = sweep.baselines[place] ?? cells.losses[place][0] ?? null
  return reference === null ? null : sweep.learned * reference
}

/**
 * What diverged has the colour of the worst.
 * @param {MapTrace} trace
 * @param {Layout} layout
 */
function clampLost(trace, layout) {
  trace.z = trace.z.map((row) =>
    row.map((value) => (value === Number.POSITIVE_INFINITY ? layout.coloraxis.cmax : value)),
  )
}

/**
 * A frame around every chosen cell.
 * @param {Figure} figure
 * @param {Set<number>} chosen
 */
function frames(figure, chosen) {
  return figure.data.flatMap((/** @type {Trace} */ trace) => {
    const meta = /** @type {{ cells?: number[][][] }} */ (trace.meta ?? {})
    return (meta.cells ?? []).flatMap((row, r) =>
      row.flatMap((places, c) =>
        places.length && places.every((place) => chosen.has(place))
          ? [
              {
                type: "rect",
                xref: trace.xaxis ?? "x",
                yref: trace.yaxis ?? "y",
                x0: c - 0.5,
                x1: c + 0.5,
                y0: r - 0.5,
                y1: r + 0.5,
                line: { color: "#D55E00", width: 3 },
              },
            ]
          : [],
      ),
    )
  })
}
