// @ts-check
// A figure as a file, in each of the forms there are.
import { sourceOf } from "./figure_source.js"
import { composed } from "./figure_svg.js"
import { csvOf } from "./figure_table.js"
import { FAMILY } from "./figure_text.js"
import { loadPlotly } from "./plot_parts.js"

/** @import { FigureLook, FigureOptions, FigurePart, FigureSource, FigureForms, Room } from "./types.d.ts" */

const OWN = new URL(".", import.meta.url) // our scripts' folder on the server
const API = new URL("../../api/figures/", OWN)
const PIXELS = 96 / 72 // a point, at 1x

/** @type {Promise<FigureForms> | undefined} */
let forms

/** @returns {Promise<FigureForms>} */
export function figureForms() {
  forms ??= fetch(new URL("figure_forms.json", OWN)).then((answer) => answer.json())
  return forms
}

/** @type {Promise<Record<string, string>> | undefined} */
let fonts

/** Both cuts, known to the page and as text. @returns {Promise<Record<string, string>>} by weight */
function loadFonts() {
  fonts ??= Promise.all(
    Object.entries({ normal: "LabSans-Regular.woff2", bold: "LabSans-Bold.woff2" }).map(async ([weight, file]) => {
      const bytes = new Uint8Array(await (await fetch(new URL(file, OWN))).arrayBuffer())
      document.fonts.add(await new FontFace(FAMILY, bytes, { weight }).load())
      const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
      const face = `@font-face{font-family:"${FAMILY}";font-weight:${weight};src:url(data:font/woff2;base64,${btoa(text)})}`
      return [weight, face]
    }),
  ).then((faces) => Object.fromEntries(faces))
  return fonts
}

const PAGE_ROOM = { width: 900, height: 500 }

/**
 * @param {Element[]} boxes up to four charts of the page
 * @param {FigureOptions} options
 * @param {Room} [room]
 * @returns {FigurePart[]}
 */
export function partsOf(boxes, options, room = PAGE_ROOM) {
  return boxes.map((box) => {
    const source = /** @type {FigureSource} */ (sourceOf(box))
    const frozen = options.step !== null && source.at
    const figure = frozen ? frozen.call(source, Number(options.step), room) : source.now(room)
    return { title: source.title, lanes: source.lanes, figure }
  })
}

/**
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 * @returns {Promise<FigureLook>}
 */
async function lookOf(boxes, options) {
  const [source] = boxes.map((box) => /** @type {FigureSource} */ (sourceOf(box)))
  const [{ sizes }, faces] = await Promise.all([figureForms(), loadFonts()])
  const size = sizes[options.size]
  if (!size) throw new Error(`size must be one of ${Object.keys(sizes).join(", ")}, got ${options.size}`)
  const link = options.link ?? decodeURI(location.href.replace(/^https?:\/\//, ""))
  const at = options.step === null ? [] : [`at step ${options.step}`]
  return {
    ...{ size, theme: options.theme, scale: options.scale, legend: options.legend, transparent: options.transparent },
    templates: source.templates,
    // Several charts have a title each: that of the first is not everybody's.
    title: options.titled && (boxes.length === 1 || options.title !== source.title) ? options.title : "",
    caption: options.caption ? [source.about, ...at, link].filter(Boolean).join(" · ") : "",
    fonts: (bold) => faces.normal + (bold ? faces.bold : ""),
  }
}

/**
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 * @param {(room: Room) => FigurePart[]} [made] in place of what the charts show
 */
export async function svgOf(boxes, options, made = (room) => partsOf(boxes, options, room)) {
  const source = /** @type {FigureSource} */ (sourceOf(boxes[0]))
  const [Plotly, look] = await Promise.all([loadPlotly(source.plotlyUrl), lookOf(boxes, options)])
  return composed(Plotly, boxes.length, made, look)
}

/**
 * @param {string} svg
 * @param {number} scale
 * @returns {Promise<Blob>}
 */
export async function pngOf(svg, scale) {
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? []
  const canvas = document.createElement("canvas")
  canvas.width = Math.round(Number(width) * PIXELS * scale)
  canvas.height = Math.round(Number(height) * PIXELS * scale)
  const picture = new Image()
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await picture.decode()
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for this browser")))),
  )
}

/**
 * The server's answer, or its sentence as an error.
 * @param {string} path
 * @param {BodyInit} body
 * @param {string} type
 */
export async function ask(path, body, type) {
  const answer = await fetch(new URL(path, API), { method: "POST", body, headers: { "Content-Type": type } }).catch(
    () => {
      throw new Error("the server does not answer; PNG, SVG, HTML and CSV are made here without it")
    },
  )
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300))
  return answer.blob()
}

/**
 * A page of its own that needs no network: plotly.js is in it.
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 */
async function htmlOf(boxes, options) {
  const source = /** @type {FigureSource} */ (sourceOf(boxes[0]))
  const [look, plotly] = await Promise.all([lookOf(boxes, options), fetch(source.plotlyUrl).then((a) => a.text())])
  const template = structuredClone(look.templates[options.theme])
  template.layout.font.family = "sans-serif"
  const charts = partsOf(boxes, options).map(({ title, figure, lanes }) => {
    const { sliders, updatemenus, height, ...layout } = figure.layout
    const legend = options.legend && (lanes || layout.showlegend !== false)
    const seen = new Set()
    const data = figure.data.map((trace) => {
      const again = seen.has(trace.name)
      seen.add(trace.name)
      return lanes ? { ...trace, showlegend: Boolean(trace.meta) && !again, legendgroup: trace.name } : trace
    })
    return { title, data, layout: { ...layout, template, showlegend: legend, autosize: true } }
  })
  const json = JSON.stringify(charts).replaceAll("<", "\\u003c")
  const { paper_bgcolor: paper, font } = template.layout
  const css = `body{margin:1rem;font-family:sans-serif;background:${paper};color:${font.color}}.chart{height:${Math.round(80 / charts.length)}vh}`
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>RAdam Lab</title><style>${css}</style>`,
    `<h1></h1><div id="charts"></div><p></p><script>${plotly.replaceAll("</script", "<\\/script")}</script>`,
    `<script>const charts = ${json}; const told = ${JSON.stringify([look.title, look.caption]).replaceAll("<", "\\u003c")};`,
    `document.querySelector("h1").innerHTML = told[0].replace(/<(?!\\/?(sub|sup)>)[^>]*>/g, "");`,
    `document.querySelector("p").textContent = told[1];`,
    `for (const { title, data, layout } of charts) { const box = document.createElement("div"); box.className = "chart";`,
    `document.getElementById("charts").append(box); Plotly.newPlot(box, data, layout, { responsive: true, displaylogo: false }); }</script></html>`,
  ].join("\n")
}

/**
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 * @returns {Promise<Blob>}
 */
export async function figureFile(boxes, options) {
  const { formats } = await figureForms()
  const type = formats[options.format]?.type
  const parts = () => partsOf(boxes, options).map(({ title, figure }) => ({ title, ...figure }))
  switch (options.format) {
    case "csv":
      return new Blob([csvOf(parts())], { type })
    case "html":
      return new Blob([await htmlOf(boxes, options)], { type })
    case "svg":
      return new Blob([await svgOf(boxes, options)], { type })
    case "png":
      return pngOf(await svgOf(boxes, options), options.pixels)
    case "pdf":
      return ask("pdf", await svgOf(boxes, options), "image/svg+xml")
    default: {
      const { moving } = await import("./figure_moving.js")
      return moving(boxes, options)
    }
  }
}

/**
 * What is in it, in its name.
 * @param {Element[]} boxes
 * @param {FigureOptions} options
 */
export function fileName(boxes, options) {
  const own = boxes.map((box) => /** @type {FigureSource} */ (sourceOf(box)))
  const size = ["csv", "html"].includes(options.format) ? "" : options.size.replace(":", "x")
  const pixels = options.format === "png" && options.pixels > 1 ? `${options.pixels}x` : ""
  const step = options.step === null ? "" : `step-${options.step}`
  const look = options.format === "csv" ? "" : `${options.theme}${options.transparent ? "-transparent" : ""}`
  const parts = ["radam-lab", own.map(({ name }) => name).join("-and-"), own[0].slug, step, size, look, pixels]
  const ending = options.format === "apng" ? "png" : options.format
  const words = parts
    .filter(Boolean)
    .join("-")
    .replace(/[^\w.+-]+/g, "-")
  return `${words.slice(0, 150)}.${ending}`
}
