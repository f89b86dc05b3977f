"""All charts of a place in all forms: each is drawn once a look, and everything is made of that."""

import base64
from typing import Any, NamedTuple

from dashboard.figure_command import figure_options
from dashboard.figure_studio import _DRAW, Studio
from tests.dashboard.places import ALONE, PLACES

LARGE = figure_options("png", theme="dark", scale=1.5, pixels=1)  # for the back row, and as a picture
# Places whose charts are also looked at in other sizes.
SIZES = {"4:3": ("sweep", "norms", "tour"), "column": ("size", "variance", "own")}

# What a chart becomes, by the functions that the panel calls; of the page of its own only what is not plotly.js.
_SHEET = """async ({ name, usual, large, others, scripts }) => {
  const [{ figureFile, pngOf, svgOf }, { pictured, canMove }, { shownCharts, sourceOf }] = await Promise.all(
    ["figure_files.js", "figure_moving.js", "figure_source.js"].map((file) => import(scripts + file)))
  const boxes = [shownCharts().find((box) => sourceOf(box).name === name)]
  const { title, plotlyUrl } = sourceOf(boxes[0])
  const read = (blob) => new Promise((resolve) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1))
    reader.readAsDataURL(blob)
  })
  const look = (options) => svgOf(boxes, { ...options, title })
  const [svg, back] = [await look(usual), await look(large)]
  const sized = []
  for (const size of others) sized.push(await look({ ...usual, size }))
  const csv = await (await figureFile(boxes, { ...usual, title, format: "csv" })).text()
  const html = await (await figureFile(boxes, { ...usual, title, format: "html" })).text()
  window.library ??= (await (await fetch(plotlyUrl)).text()).replaceAll("</script", "<\\\\/script")
  const at = html.indexOf(window.library)
  const [before, after] = [html.slice(0, at), html.slice(at + window.library.length)]
  const film = canMove(boxes[0]) ? await read(await pictured(boxes, { ...usual, title, frames: 2 }, () => {})) : null
  return { svg, back, sized, csv, before, after, film, png: await read(await pngOf(back, large.pixels)) }
}"""

# Where each text of these figures lies, in points, with what it says, as the browser that opens the file would draw it.
# Their font, which is the same in all of them, is loaded once.
_TEXTS = """async ({ svgs, scripts }) => {
  if (!window.measured) {
    window.measured = document.createElement("iframe")
    window.measured.style.cssText = "position:fixed;left:-9000px;width:2000px;height:1000px"
    document.documentElement.append(window.measured)
    for (const [file, weight] of [["LabSans-Regular.woff2", "normal"], ["LabSans-Bold.woff2", "bold"]])
      window.measured.contentDocument.fonts.add(
        await new window.measured.contentWindow.FontFace("Lab Sans", `url(${scripts}${file})`, { weight }).load())
  }
  const { body } = window.measured.contentDocument
  return svgs.map((svg) => {
    body.innerHTML = svg
    const root = body.firstElementChild
    const frame = root.getBoundingClientRect()
    return [...root.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => {
      const { left, top, right, bottom } = text.getBoundingClientRect()
      const place = [left - frame.left, top - frame.top, right - frame.left, bottom - frame.top].map((v) => v * 0.75)
      const { a, b } = text.getScreenCTM()
      const own = text.ownerSVGElement.getBoundingClientRect() // a chart's, which is cut off at its edges
      const edge = 0.75 * Math.min(left - own.left, top - own.top, own.right - right, own.bottom - bottom)
      return [text.textContent, ...place, Math.abs(a * b) > 1e-6, edge]
    })
  })
}"""

# Pages of their own, opened where no request is allowed; plotly.js, which is in each of them, is loaded once.
_OPENED = """async ({ pages, library }) => {
  if (!window.alone) {
    const frame = document.createElement("iframe")
    frame.style.cssText = "position:fixed;left:-9000px;width:1280px;height:720px"
    const parts = ["default-src 'none'", `script-src 'unsafe-inline' ${location.origin}`, "style-src 'unsafe-inline'"]
    const policy = `<meta http-equiv="Content-Security-Policy" content="${[...parts, "img-src data:"].join("; ")}">`
    frame.srcdoc = `${policy}<script src="${library}"></` + "script>"
    window.alone = frame
    await new Promise((done) => { frame.onload = done; document.documentElement.append(frame) })
    frame.refused = []
    frame.contentDocument.addEventListener("securitypolicyviolation", (one) => frame.refused.push(one.blockedURI))
  }
  const { contentDocument: own, contentWindow: world, refused } = window.alone
  const seen = []
  for (const { before, script } of pages) {
    own.body.innerHTML = before
    const part = own.createElement("script")
    part.textContent = `{${script}}` // in a block: the next page's names are the same
    own.body.append(part)
    const charts = [...own.querySelectorAll(".chart")]
    const marked = [".trace path", ".points path", "image"].map((one) => `.cartesianlayer ${one}`).join()
    const marks = (box) => box.querySelectorAll(marked).length
    for (let k = 0; k < 300 && !charts.every(marks); k++) await new Promise((done) => setTimeout(done, 10))
    seen.push(charts.map((box) => ({
      traces: box._fullData.map(({ name, type, visible }, k) => [name, type, visible, box.calcdata[k]?.length ?? 0]),
      marks: marks(box),
      title: own.querySelector("h1").textContent,
    })))
    for (const box of charts) world.Plotly.purge(box)
  }
  const asked = world.performance.getEntriesByType("resource").map(({ name }) => name)
  return { seen, refused, asked }
}"""


class Text(NamedTuple):
    """What is written where, in points."""

    words: str
    left: float
    top: float
    right: float
    bottom: float
    slanted: bool
    edge: float  # from there to the nearest edge behind which it would be cut off


class Sheet(NamedTuple):
    """A chart in all its forms."""

    name: str
    svg: bytes
    back: bytes  # with large letters, dark
    sized: dict[str, bytes]
    csv: str
    before: str  # the page of its own up to plotly.js
    after: str
    film: bytes | None  # its pictures, if it moves
    png: bytes


def charts(studio: Studio, place: str) -> list[str]:
    """Shows a place; the names of the charts that are to be looked at there."""
    names = studio.show(PLACES[place](studio))
    return [name for name in names if name in ALONE.get(place, names)]


def usual_svg(studio: Studio, place: str, name: str) -> bytes:
    """As the command line would make it."""
    options = figure_options("svg", link=f"lab/{place}")
    return base64.b64decode(studio._run(_DRAW, names=[name], options=options)[1])


def sheet(studio: Studio, place: str, name: str) -> Sheet:
    others = [size for size, places in SIZES.items() if place in places]
    looks = {"usual": figure_options("svg", link=f"lab/{place}"), "large": {**LARGE, "link": f"lab/{place}"}}
    made: dict[str, Any] = studio._run(_SHEET, name=name, others=others, **looks)
    film = made["film"] and base64.b64decode(made["film"])
    svgs = dict(zip(others, (one.encode() for one in made["sized"]), strict=True))
    pages = [made[part] for part in ("csv", "before", "after")]
    return Sheet(name, made["svg"].encode(), made["back"].encode(), svgs, *pages, film, base64.b64decode(made["png"]))


def texts(studio: Studio, *svgs: bytes) -> list[list[Text]]:
    bare = [svg.decode().replace(svg.decode().partition("<style>")[2].partition("</style>")[0], "") for svg in svgs]
    return [[Text(*one) for one in found] for found in studio._run(_TEXTS, svgs=bare)]


def opened(studio: Studio, library: str, pages: list[tuple[str, str]]) -> dict[str, Any]:
    """What is on these pages, each given as the part before its scripts and its own script."""
    given = [{"before": before, "script": script} for before, script in pages]
    found: dict[str, Any] = studio._run(_OPENED, pages=given, library=library)
    return found
