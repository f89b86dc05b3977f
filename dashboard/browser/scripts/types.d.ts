// What the server sends, and what the modules hand to each other. No browser asks for this file.

export type Theme = "light" | "dark"

/** What Streamlit hands to a component's default export, on every rerun of the page. */
export interface Component {
  data: Uint8Array
  parentElement: HTMLElement
  setTriggerValue(name: string, value: unknown): void
}

/** A number as JSON has it: null for what is not finite. */
export type Value = number | null

/** A curve; `x` rises. */
export interface Series {
  x: number[]
  y: Value[]
}

/** A line in several pieces, with a null between two of them. */
export interface Path {
  x: Value[]
  y: Value[]
}

/** Some steps of one lane: dashboard/runs/records.py says what is in it, and how it is packed. */
export interface LaneRecord {
  number: number
  last: number
  rows: string
  told?: Record<string, string> // of an own model's run (dashboard/own_runs.py): what its settings decided, by step
  positions?: string
  diverged_at?: number
  metrics?: Record<string, Record<string, Value>>
  histograms?: PackedHistogram[]
  sharpness?: Record<string, Value[]>
  samples?: Samples
}

/** What arrives at once: by the lane's place in the race, in the order of their numbers. */
export type Records = Record<string, LaneRecord[]>

export interface PackedHistogram {
  t: number
  groups: string[]
  counts: string
  by_group: Record<string, string>
  layers?: string[]
  by_layer?: string
  spread: Partial<Record<string, number>>
}

/** A histogram's counts, unpacked: bin 0, and the bins in use from `first` on. */
export interface Counts {
  zeros: number
  first: number
  counts: number[]
}

export interface Histogram extends Omit<PackedHistogram, "counts" | "by_group" | "layers" | "by_layer"> {
  counts: Counts[] // [quantity][group], one after the other
  by_group: Partial<Record<string, Value[]>> // by quantity
  layers: string[]
  by_layer: Value[] // the gradient's norm
}

/** Of each sentence the source, what the lane says, and what is expected. */
export type Samples = [string, string, string][]

/** What an event stream says of its run (dashboard/runs/feed.py). */
export interface Status {
  state: string
  step: number
  steps: number
  position: number | null
  lane_steps_per_second: number | null
  seconds_left: number | null
  wanted_by: number
  message: string
}

export interface Line {
  color: string
  dash?: string
  width: number
  simplify?: boolean
  shape?: string
  smoothing?: number
}

export interface Lane {
  name: string
  label: string
  line: Line
  phases: [number, string][]
  steps?: number // where it ends before the run does
}

/** One run of a page: what follows from its configuration, its id and what the visitor wants of it. */
export interface RunSpec {
  id: string | null
  attempt: number
  wants: string | null
  title: string // above its cards, where there are two runs
  lanes: Lane[]
  steps: number
  metrics: Record<string, string>
  baseline: number | null
}

/**
 * What fills a trace: dashboard/figures/race.py says which there are. `again` marks what is drawn a second time, and
 * `values` are a map's, where its colours stand for other numbers.
 */
export interface Meta {
  lane: number
  of?: string
  column?: string
  place?: number
  step?: number
  start?: number[]
  run?: number
  smooth?: boolean
  behind?: boolean
  grouped?: boolean
  again?: boolean
  values?: Value[][]
}

/** A trace of Plotly's, as far as we look into it. */
export interface Trace {
  x: (number | string | null)[]
  y: Value[]
  line: Line
  name?: string
  meta?: Meta
  xaxis?: string
  yaxis?: string
  visible?: boolean | "legendonly"
  [other: string]: unknown
}

export interface Axis {
  type?: string
  range?: number[]
  autorange?: boolean
  domain?: number[]
  [other: string]: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: Plotly's layouts have hundreds of parts, and the server makes them
export type Layout = Record<string, any>

export interface Figure {
  data: Trace[]
  layout: Layout
  frames?: unknown[]
}

export type Templates = Record<Theme, { layout: Layout }>

/** The data of a still chart (dashboard/browser/chart.py). */
export type ChartData = {
  figure: Figure & { told: Told }
  templates: Templates
  plotlyUrl: string
  name: string
  title: string // of an exported figure; without one, what `alt` says
  alt: string
  height: number
  play: boolean
  partial: boolean // it lacks something that is not trained yet
  fill: boolean // it is alone in a frame, and as high as that
}

/** The data of a chart to draw on (dashboard/browser/draw_curve.py). */
export interface DrawData {
  figure: Figure
  templates: Templates
  plotlyUrl: string
  alt: string
  height: number
  steps: number[]
  axis: [number, number] // powers of ten
  start: string // the curve's code until it is drawn
  color: string
}

export interface DrawnAxis {
  title?: { text?: string }
  type?: string
  ticktext?: string[]
}

/** What Plotly has made of a layout and of a trace, as far as it is told in words (scripts/chart_words.js). */
export interface DrawnLayout {
  showlegend?: boolean
  annotations?: { text?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: axes by their names, beside all else
  [axis: string]: any
}

export interface DrawnTrace {
  type: string
  name?: string
  mode?: string
  visible?: boolean | string
  showlegend?: boolean
  legendgroup?: string
  hoverinfo?: string
  fill?: string
  meta?: { again?: boolean }
  orientation?: string
  xaxis?: string
  yaxis?: string
  // biome-ignore lint/suspicious/noExplicitAny: numbers, or the names of categories
  x?: any[]
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  y?: any[]
  z?: number[][]
  text?: string[][]
}

export interface DrawnBox extends HTMLElement {
  _fullData?: DrawnTrace[]
  _fullLayout?: DrawnLayout
}

export interface PlayableBox extends HTMLElement {
  on(event: "plotly_animatingframe", listener: (event: { name: string }) => void): void
}

/** A box with a plot in it: where Plotly has put its axes, in pixels. */
export interface PlotBox extends HTMLElement {
  _fullLayout: Record<"xaxis" | "yaxis", { _offset: number; _length: number }>
  on(event: string, listener: () => void): void
}

/** What an exported figure says of a chart's settings, in words and in a file's name (dashboard/words/captions.py). */
export interface Told {
  about: string
  slug: string
}

/** Where an exported figure comes from. */
export interface FigureSource extends Told {
  name: string
  title: string
  lanes: boolean // the page shows its legend elsewhere
  templates: Templates
  theme: Theme
  plotlyUrl: string
  now(room: Room): Figure
  last?(): number // the step it has come to, where it can also be shown as it was before
  at?(step: number, room: Room): Figure
  moments?(most: number): ((room: Room) => FigurePart[])[]
}

/** So many pixels for a chart whose letters have 13. */
export interface Room {
  width: number
  height: number
}

export interface FigurePart {
  title: string
  lanes: boolean
  figure: Figure
}

/** What a visitor, or the command line, asks of a figure. */
export interface FigureOptions {
  format: string
  size: string
  theme: Theme
  transparent: boolean
  scale: number // of the letters
  pixels: number
  legend: boolean
  titled: boolean
  title: string
  caption: boolean
  step: number | null
  frames: number
  seconds: number
  link?: string
}

/** How it is drawn. Lengths are points. */
export interface FigureLook {
  size: FigureForms["sizes"][string]
  theme: Theme
  templates: Templates
  scale: number
  legend: boolean
  transparent: boolean
  title: string
  caption: string
  fonts(bold: boolean): string
}

/** figure_forms.json */
export interface FigureForms {
  sizes: Record<string, { width: number; height: number; letters: number; told: string }>
  formats: Record<string, { told: string; type: string }>
  scales: { least: number; most: number }
  pixels: number[]
  charts: number
  frames: { least: number; most: number; usual: number }
  seconds: { least: number; most: number; usual: number }
}

/** A chart's place on a page with lanes (dashboard/browser/panel.py). */
export interface Panel {
  name: string
  title: string
  note: string
  alt: string
  height: number
  steps: boolean
  wide: boolean
  shown_before: boolean
  redrawn_for: string
  tools: string
}

/** The data of a page with lanes (dashboard/browser/live.py). */
export interface RaceMessage extends Told {
  base: string
  plotlyUrl: string
  templates: Templates
  runs: Pick<RunSpec, "id" | "attempt" | "wants">[]
  hidden: string[]
  drawn: Drawn
}

/** What follows from the configurations alone. */
export interface Drawn {
  figures: Record<string, Figure>
  panels: Panel[]
  specs: Pick<RunSpec, "title" | "lanes" | "steps" | "metrics" | "baseline">[]
  columns: string[]
  together: boolean // all runs are one: trained, paused and stopped at once
  revision: string
}

/** The same, with each run's parts together. */
export type RaceData = Omit<RaceMessage, "runs" | "drawn"> & Omit<Drawn, "specs"> & { runs: RunSpec[] }

/** What a visitor has set on the charts. */
export interface View {
  lossAxis: string
  stepAxis: string
  smoothing: number
  quantity: number
  group: string
  step: number | null
}

/** How a run stands, for the bar that says so. */
export interface Standing {
  id: string | null
  status: Status | null
  wants: string | null
  done: number
  steps: number
  progress: string // in words
  button: string // that starts it
  lost: boolean
}

/** One lane's loss and metric at a point of its run (dashboard/runs/sweep_feed.py); null where it diverged. */
export type CellNews = [place: number, point: number, loss: Value, metric: Value]

export type MapQuantity = "loss" | "metric" | "learned"

/** A heatmap of Plotly's, as far as we fill it. */
export interface MapTrace {
  name: string
  z: Value[][]
  text: string[][]
  customdata: string[][]
}

/** What follows from a sweep's configuration alone (dashboard/browser/sweep.py). */
export interface Sweep {
  maps: { mean: Figure; seeds: Figure | null }
  grid: number[] // the steps of a lane's points
  labels: string[] // by lane
  baselines: (number | null)[] // by lane
  learned: number // the part of a baseline below which a loss has learned
  metric: string | null
  better: string
  early: boolean // whether its lanes measure what might foretell a failure
  revision: string
}

/** What a sweep has found (dashboard/browser/sweep_findings.py). */
export interface Findings {
  figures: { rates: Figure; courses: Figure }
  needs: (number | null)[][]
  sentences: string[]
  table: { head: string[]; rows: string[][] }
  signs: { label: string; reading: string; warns: string; auc: (string | null)[]; cells: number }[]
  sign_sentences: string[]
  points: { measures: { label: string; values: Value[] }[]; learned: (boolean | null)[]; labels: string[] }
}

/** The data of the sweep page. */
export interface SweepMessage extends Told {
  base: string
  plotlyUrl: string
  templates: Templates
  run: { id: string | null; attempt: number; wants: string | null }
  drawn: Sweep
}

/** What the variants of Appendix C came to (dashboard/browser/four_steps_findings.py). */
export interface FourStepsFound {
  figures: { courses: Figure }
  table: { groups: [string, number][]; head: string[]; rows: string[][]; places: number[][] }
  sentences: string[]
}

/** The data of the page of Appendix C (dashboard/browser/four_steps.py). */
export type FourStepsMessage = Omit<SweepMessage, "drawn"> & {
  known: FourStepsFound | null // without a run: what other runs have of its lanes
  drawn: { lanes: number; grid: number[]; start: FourStepsFound; revision: string }
}

/** The part of plotly.js that is used here. */
export interface PlotlyLibrary {
  Icons: Record<string, object>
  react(box: HTMLElement, figure: object): Promise<unknown>
  react(box: HTMLElement, data: object[], layout: object, config: object): Promise<unknown>
  animate(box: HTMLElement, frames: string[], settings: object): Promise<unknown>
  restyle(box: HTMLElement, change: object, traces: number[]): Promise<unknown>
  toImage(figure: object, settings: object): Promise<string>
  purge(box: HTMLElement): void
}

declare global {
  interface Window {
    Plotly?: PlotlyLibrary
    radamLabPlotly?: Promise<PlotlyLibrary>
    radamLabHistory?: { told: boolean; back: string }
  }
}
