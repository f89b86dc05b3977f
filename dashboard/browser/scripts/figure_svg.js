// @ts-check
// Up to four charts as one SVG: title, one legend, the charts with their letters, and a caption. All of it vectors, with
// the font in it; the same charts give the same bytes.
import { dashesOf } from "./figure_dashes.js"
import { shortPath } from "./figure_paths.js"
import { PAGE_LETTERS, staged } from "./figure_stage.js"
import { escapedText, FAMILY, short, svgText, widthOf, wrapped } from "./figure_text.js"

/** @import { Figure, FigureLook, FigurePart, PlotlyLibrary, Room, Trace } from "./types.d.ts" */

const SMALLER = 0.78 // letters of a figure with several charts
const CAPTION = 0.67 // of the letters' size
const HEADING = 1.35
const LINE = 1.3 // from one line to the next
const USUAL_STYLE =
  /(?:(?:fill|stroke)-opacity: 1|pointer-events: \w+|cursor: \w+|user-select: \w+|opacity: 1|visibility: visible)(?:;|$) ?/g
const MOST_LEGEND = 0.3 // of the height

/**
 * @param {PlotlyLibrary} Plotly
 * @param {number} count of the charts
 * @param {(room: Room) => FigurePart[]} made the charts, each for a box of that size on a page
 * @param {FigureLook} look
 */
export async function composed(Plotly, count, made, look) {
  const { width, height } = look.size
  const letters = look.size.letters * look.scale * (count > 1 ? SMALLER : 1)
  const columns = count < 2 ? 1 : count === 2 && width < 1.2 * height ? 1 : 2
  const rows = Math.ceil(count / columns)
  // In letters a box is as wide and high as on a page; of the height a fifth is for all that stands around the charts.
  const unit = PAGE_LETTERS / letters
  const parts = made({ width: (unit * width) / columns, height: (0.8 * unit * height) / rows })
  const { layout } = look.templates[look.theme]
  const [ink, paper] = [layout.font.color, layout.paper_bgcolor]
  const pad = 0.5 * letters
  const inner = width - 2 * pad
  /** @type {string[]} */
  const drawn = []
  let top = pad
  for (const line of look.title ? wrapped(look.title, HEADING * letters, inner, true) : []) {
    drawn.push(svgText(line, { x: pad, y: top + HEADING * letters, size: HEADING * letters, color: ink, bold: true }))
    top += HEADING * LINE * letters
  }
  if (look.legend) {
    const legend = legendOf(parts, letters, inner, MOST_LEGEND * height)
    drawn.push(...legend.drawn(pad, top, ink))
    top += legend.height
  }
  let bottom = height - pad
  const small = CAPTION * letters
  const caption = look.caption ? wrapped(look.caption, small, inner) : []
  bottom -= caption.length * LINE * small
  caption.forEach((line, i) => {
    drawn.push(svgText(line, { x: pad, y: bottom + (i + 0.95) * LINE * small, size: small, color: ink }))
  })
  const [across, down] = [inner / columns, (bottom - top) / rows]
  if (down < 4 * letters) throw new Error("the letters are too large for this size: choose a smaller font scale")
  for (const [i, part] of parts.entries()) {
    const [x, y] = [pad + (i % columns) * across, top + Math.floor(i / columns) * down]
    let head = 0
    if (parts.length > 1) {
      const [title] = wrapped(part.title, letters, across - 2.5 * letters)
      drawn.push(svgText(`<b>${"abcd"[i]}</b>  ${title ?? ""}`, { x, y: y + letters, size: letters, color: ink }))
      head = LINE * letters
    }
    const size = { width: across - (columns > 1 ? pad : 0), height: down - head }
    const papers = Object.values(look.templates).map((one) => one.layout.paper_bgcolor)
    const figure = staged(part.figure, { ...size, letters, template: look.templates[look.theme], paper, papers })
    drawn.push(await plotted(Plotly, figure, { x, y: y + head, ...size }, `p${i}`))
  }
  const background = look.transparent ? "" : `<rect width="${width}" height="${height}" fill="${paper}"/>`
  const name = escapedText(parts.map(({ title }) => title.replace(/<[^>]*>/g, "")).join("; "))
  const body = drawn.join("\n")
  const bold = /font-weight/.test(body)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${name}</title>`,
    `<style>${look.fonts(bold)}</style>`,
    background,
    body,
    "</svg>",
    "",
  ].join("\n")
}

/**
 * A chart as Plotly draws it, at its place. What Plotly numbers at random is numbered by place.
 * @param {PlotlyLibrary} Plotly
 * @param {Figure} figure
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {string} name
 */
async function plotted(Plotly, { data, layout }, { x, y, width, height }, name) {
  const text = await Plotly.toImage(
    { data, layout, config: { staticPlot: true } },
    { format: "svg", width, height, imageDataOnly: true },
  )
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement
  for (const node of svg.querySelectorAll(".hoverlayer, .modebar-container, image")) node.remove()
  const [, random = ""] = /id="(?:top|legend)?defs-([0-9a-f]{6})"/.exec(text) ?? []
  const around = { x: short(x), y: short(y), width: short(width), height: short(height) }
  for (const [key, value] of Object.entries({ ...around, viewBox: `0 0 ${short(width)} ${short(height)}` }))
    svg.setAttribute(key, value)
  svg.removeAttribute("style")
  for (const node of svg.querySelectorAll("*")) {
    for (const name of ["class", "vector-effect", "unselectable", "pointer-events"]) node.removeAttribute(name)
    const style = node.getAttribute("style")?.replace(USUAL_STYLE, "").trim()
    if (style) node.setAttribute("style", style)
    else node.removeAttribute("style")
    const path = node.getAttribute("d")
    if (path) node.setAttribute("d", shortPath(path))
    for (const attribute of [...node.attributes].filter(({ name }) => name.startsWith("data-")))
      node.removeAttribute(attribute.name)
  }
  const plain = new XMLSerializer().serializeToString(svg).replace(/"?Lab Sans"?|&quot;Lab Sans&quot;/g, FAMILY)
  const own = random ? plain.replaceAll(random, "") : plain
  return own
    .replace(/\bid="([^"]+)"/g, `id="${name}-$1"`)
    .replace(/url\((?:&quot;|'|")?#([^)"'&]+)(?:&quot;|'|")?\)/g, `url(#${name}-$1)`)
}

/**
 * One entry a name and line, whatever number of curves and panels have it.
 * @param {FigurePart[]} parts
 */
export function entriesOf(parts) {
  /** @type {Map<string, Trace>} */
  const entries = new Map()
  for (const { figure, lanes } of parts)
    for (const trace of figure.data) {
      const hidden = trace.visible === false || trace.visible === "legendonly"
      const wanted = lanes
        ? Boolean(trace.meta && !trace.meta.again)
        : figure.layout.showlegend !== false && trace.showlegend !== false
      if (hidden || !wanted || !trace.name || trace.type === "heatmap" || trace.type === "contour") continue
      if (!entries.has(trace.name) || Number(entries.get(trace.name)?.opacity ?? 1) < Number(trace.opacity ?? 1))
        entries.set(trace.name, trace)
    }
  return [...entries.values()]
}

/**
 * @param {FigurePart[]} parts
 * @param {number} letters
 * @param {number} width
 * @param {number} most of its height
 */
function legendOf(parts, letters, width, most) {
  const found = entriesOf(parts)
  // As Plotly does: one entry says something only where it is asked for.
  const asked = parts.some(({ lanes, figure }) => lanes || figure.layout.showlegend === true)
  const entries = found.length === 1 && !asked && found[0].showlegend !== true ? [] : found
  let size = letters
  let rows = flow(entries, size, width)
  while (rows.length * LINE * size > most && size > 0.6 * letters) {
    size *= 0.94
    rows = flow(entries, size, width)
  }
  if (rows.length * LINE * size > 2 * most)
    throw new Error(`a legend of ${entries.length} has no room: hide some, or leave the legend out`)
  return {
    height: rows.length ? rows.length * LINE * size + 0.3 * size : 0,
    /** @type {(left: number, top: number, ink: string) => string[]} */
    drawn: (left, top, ink) =>
      rows.flatMap((row, r) =>
        row.flatMap(({ trace, x }) => {
          const y = top + (r + 0.75) * LINE * size
          const text = svgText(trace.name ?? "", { x: left + x + 2.3 * size, y, size, color: ink })
          return [sample(trace, left + x, y - 0.33 * size, 1.9 * size, letters / 13), text]
        }),
      ),
  }
}

/**
 * @param {Trace[]} entries
 * @param {number} size
 * @param {number} width
 */
function flow(entries, size, width) {
  /** @type {{ trace: Trace, x: number }[][]} */
  const rows = []
  let x = Infinity
  for (const trace of entries) {
    const own = 2.3 * size + widthOf(trace.name ?? "", size) + 1.1 * size
    if (x + own > width + 1.1 * size) {
      rows.push([])
      x = 0
    }
    rows[rows.length - 1].push({ trace, x })
    x += own
  }
  return rows
}

/**
 * @param {Trace} trace
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} grown
 */
function sample({ line, marker, mode, fill, fillcolor, opacity }, x, y, width, grown) {
  const faded = opacity === undefined ? "" : ` opacity="${Number(opacity)}"`
  if (fill && !line?.width) {
    const color = String(fillcolor ?? line?.color)
    return `<rect x="${short(x)}" y="${short(y - 0.2 * width)}" width="${short(width)}" height="${short(0.4 * width)}" fill="${color}"${faded}/>`
  }
  const kind = String(mode ?? "lines")
  const dot = /** @type {{ color?: string, symbol?: string }} */ (marker ?? {})
  const color = line?.color ?? dot.color ?? "#808890"
  const stroke = Math.min((line?.width ?? 2) * grown, 0.25 * width)
  const dashes = dashesOf(line?.dash ?? "", stroke)
    .map(short)
    .join()
  const dashed = dashes ? ` stroke-dasharray="${dashes}"` : ""
  const stretch = `<path d="M${short(x)},${short(y)}h${short(width)}" fill="none" stroke="${color}" stroke-width="${short(stroke)}"${dashed}${faded}/>`
  const point = pointOf(String(dot.symbol ?? "circle"), x + width / 2, y, 0.16 * width, String(dot.color ?? color))
  return (kind.includes("lines") ? stretch : "") + (kind.includes("markers") ? point : "")
}

/**
 * @param {string} symbol
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} color
 */
function pointOf(symbol, x, y, r, color) {
  if (symbol === "x") {
    const d = `M${short(x - r)},${short(y - r)}L${short(x + r)},${short(y + r)}M${short(x - r)},${short(y + r)}L${short(x + r)},${short(y - r)}`
    return `<path d="${d}" fill="none" stroke="${color}" stroke-width="${short(0.8 * r)}"/>`
  }
  if (symbol === "line-ns-open")
    return `<path d="M${short(x)},${short(y - 2 * r)}v${short(4 * r)}" stroke="${color}" stroke-width="${short(0.7 * r)}"/>`
  if (symbol === "square" || symbol === "diamond") {
    const turned = symbol === "diamond" ? ` transform="rotate(45 ${short(x)} ${short(y)})"` : ""
    return `<rect x="${short(x - r)}" y="${short(y - r)}" width="${short(2 * r)}" height="${short(2 * r)}" fill="${color}"${turned}/>`
  }
  return `<circle cx="${short(x)}" cy="${short(y)}" r="${short(r)}" fill="${color}"/>`
}
