// A Plotly figure that is drawn once and updated in place. Follows plot_parts.js.
async function draw(box, data, theme) {
  const Plotly = await loadPlotly(data.plotlyUrl)
  const narrow = box.offsetWidth < 520
  const layout = {
    ...data.figure.layout,
    template: data.templates[theme],
    height: data.height,
    autosize: true,
    ...(narrow ? { font: { size: 12 } } : {}),
  }
  await Plotly.react(box, {
    data: data.figure.data,
    layout,
    frames: data.figure.frames,
    config: plotConfig(Plotly, box, data.filename),
  })
  box.dataset.drawn = String(Number(box.dataset.drawn ?? 0) + 1)
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  if (data.play && !still && box.dataset.played === undefined) {
    box.dataset.played = "yes"
    Plotly.animate(box, null, { frame: { duration: 60, redraw: false }, transition: { duration: 0 }, mode: "immediate" })
  }
}

export default function (component) {
  const { data, parentElement } = component
  const box = parentElement.querySelector(".lab-chart")
  const theme = isDark(parentElement) ? "dark" : "light"
  box.setAttribute("aria-label", data.alt)
  box.style.minHeight = `${data.height}px`
  draw(box, data, theme).catch((error) => {
    box.textContent = `The chart could not be drawn: ${error.message}. Reload the page to try again.`
  })
  return () => window.Plotly?.purge(box)
}
