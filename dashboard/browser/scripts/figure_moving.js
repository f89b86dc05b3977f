// @ts-check
// A figure that moves: a race as its curves and ridges grow, or a chart's own frames. The browser draws every picture,
// and the server puts them together.
import { ask, pngOf, svgOf } from "./figure_files.js"
import { sourceOf } from "./figure_source.js"
import { loadPlotly } from "./plot_parts.js"

/** @import { Figure, FigureOptions, FigurePart, FigureSource } from "./types.d.ts" */

const HEIGHT = 720 // pixels, whatever the shape

/** @param {Element} box */
export const canMove = (box) => Boolean(sourceOf(box)?.moments)

/**
 * @param {Element[]} boxes the first of which moves
 * @param {FigureOptions} options
 * @param {(done: number, of: number) => void} [told]
 */
export async function moving(boxes, options, told = () => {}) {
  const query = new URLSearchParams({ format: options.format, seconds: String(options.seconds) })
  return ask(`moving?${query}`, await pictured(boxes, options, told), "application/octet-stream")
}

/**
 * All its pictures, as the server takes them: PNGs, each after its length.
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 * @param {(done: number, of: number) => void} told
 */
export async function pictured(boxes, options, told) {
  const source = /** @type {FigureSource} */ (sourceOf(boxes[0]))
  if (!source.moments) throw new Error("this chart has nothing that moves: choose a race's chart, or one that plays")
  const moments = source.moments(options.frames)
  if (moments.length < 2) throw new Error("there are too few steps for a moving figure yet")
  const Plotly = await loadPlotly(source.plotlyUrl)
  const last = moments[moments.length - 1]({ width: 900, height: 500 })
  const ranges = await Promise.all(last.map((part) => settledRanges(Plotly, part.figure)))
  /** @type {BlobPart[]} */
  const body = []
  for (const [i, moment] of moments.entries()) {
    const still = { ...options, step: null }
    const svg = await svgOf(
      last.map(() => boxes[0]),
      still,
      (room) => moment(room).map((part, p) => ({ ...part, figure: held(part.figure, ranges[p]) })),
    )
    const [, height] = /viewBox="0 0 [\d.]+ ([\d.]+)"/.exec(svg) ?? []
    const png = await pngOf(svg, HEIGHT / (Number(height) * (96 / 72)))
    const length = new DataView(new ArrayBuffer(4))
    length.setUint32(0, png.size)
    body.push(length.buffer, png)
    told(i + 1, moments.length)
  }
  return new Blob(body)
}

/**
 * The ranges that Plotly gives the axes when all is there.
 * @param {import("./types.d.ts").PlotlyLibrary} Plotly
 * @param {Figure} figure
 */
async function settledRanges(Plotly, { data, layout }) {
  const box = document.createElement("div")
  box.style.cssText = "position:fixed;left:-4000px;width:900px;height:500px"
  document.body.append(box)
  await Plotly.react(
    box,
    structuredClone(data),
    { ...structuredClone(layout), width: 900, height: 500 },
    { staticPlot: true },
  )
  const drawn = /** @type {Figure} */ (/** @type {unknown} */ (box)).layout
  const axes = Object.keys(drawn).filter((name) => /^[xy]axis\d*$/.test(name) && drawn[name].range)
  const found = Object.fromEntries(axes.map((name) => [name, [...drawn[name].range]]))
  Plotly.purge(box)
  box.remove()
  return found
}

/**
 * @param {Figure} figure
 * @param {Record<string, number[]>} ranges
 * @returns {Figure}
 */
function held({ data, layout }, ranges) {
  const axes = Object.entries(ranges).map(([name, range]) => [name, { ...layout[name], range, autorange: false }])
  return { data, layout: { ...layout, ...Object.fromEntries(axes) } }
}
