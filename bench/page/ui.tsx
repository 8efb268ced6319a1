// Times the page's own components on made-up series: what an update costs the page's main thread.
import { createRoot } from 'react-dom/client'
import { PRESETS } from '../../src/document/presets/presets.ts'
import { appendMetrics, type Series } from '../../src/host/columns/series.ts'
import type { AdapterFacts } from '../../src/kernels/device/adapter.ts'
import { applyEvent } from '../../src/page/events/apply.ts'
import { emptyRun, type LabState, labStore } from '../../src/page/state/store.ts'
import { formatNumber, formatTick } from '../../src/ui/kit/format.ts'
import { EntropyMap } from '../../src/ui/learning/entropy/EntropyMap.tsx'
import { type Line, MetricChart } from '../../src/ui/plot/MetricChart.tsx'
import { App } from '../../src/ui/shell/App.tsx'
import { greedyAccuracy, layerEntropy, REWARD } from '../../src/ui/shown/metrics.ts'
import { followTheme, uiStore } from '../../src/ui/shown/store.ts'
import { startTicker } from '../../src/ui/shown/ticker.ts'
// The styles of src/main.tsx: without them the layout is not that of the page.
import '../../src/ui/kit/tokens.css'
import '../../src/ui/kit/base.css'
import '../../src/ui/shell/layout.css'
import '../../src/ui/part/panels.css'
import '../../src/ui/phases/preferences.css'
import '../../src/ui/phases/phases.css'
import '../../src/ui/gpu/profiler.css'
import '../../src/ui/settings/settings.css'
import '../../src/ui/notices/findings.css'
import '../../src/ui/tokens/stages.css'
import '../../src/ui/inside/suggested/suggested.css'
import '../../src/ui/runs/runs.css'
import '../../src/ui/shell/tabs.css'
import '../../src/ui/shell/palette/palette.css'
import '../../src/ui/learning/charts.css'
import '../../src/ui/share/share.css'

export interface UiCase {
  readonly name: string
  readonly shows: 'charts' | 'heatmap' | 'learning'
  readonly steps: number
  readonly layers: number
  /** Updates a second as a run would make them; undefined: one in every animation frame. */
  readonly per_second?: number
  /** Most milliseconds of the thread for an update, or its share of the time where `per_second` is
   * given. */
  readonly budget: number
  /** The height of the page in view, with the picture in it. Without it the charts are at the top
   * of what is in view. */
  readonly pictureHeight?: number
}

/** What an update cost. */
export interface UiRow extends UiCase {
  /** Milliseconds of the thread's CPU time an update. */
  readonly ms: number
  /** Share of the thread's time, where `per_second` is given. */
  readonly share?: number
}

export const UI_CASES: readonly UiCase[] = [
  { name: '4 charts × 8 lines', shows: 'charts', steps: 2000, layers: 8, budget: 4 },
  { name: '4 charts × 8 lines', shows: 'charts', steps: 50_000, layers: 8, budget: 4 },
  { name: 'heat map, 32 layers', shows: 'heatmap', steps: 2000, layers: 31, budget: 2 },
  { name: 'heat map, 32 layers', shows: 'heatmap', steps: 50_000, layers: 31, budget: 2 },
  {
    name: 'Learning tab, everything open',
    shows: 'learning',
    steps: 2000,
    layers: 8,
    per_second: 10,
    budget: 0.15,
  },
  {
    name: 'the same with the picture in view',
    shows: 'learning',
    steps: 2000,
    layers: 8,
    per_second: 10,
    budget: 0.15,
    pictureHeight: 1800,
  },
]

/** Beside it, and where no GPU draws, the picture is painted when there is news. */
const SOFTWARE: AdapterFacts = {
  vendor: 'made',
  architecture: 'up',
  description: '',
  is_software: true,
  features: [],
  has_subgroups: false,
  has_f16: false,
  max_buffer_bytes: 2 ** 28,
  max_binding_bytes: 2 ** 27,
}

const CHARTS = 4
const LINES = 8
const COLORS = ['--ink', '--series-1', '--series-2', '--series-3']

const chartLines = (chart: number): readonly Line[] =>
  Array.from({ length: LINES }, (_, line) => ({
    metric: `made/${chart}/${line}`,
    label: `line ${line}`,
    color: COLORS[line % COLORS.length],
  }))

/** A noisy decay, different for each name. */
function made(seed: number, step: number): number {
  const noise = Math.abs(Math.sin(seed * 12.9898 + step * 78.233) * 43_758.5453) % 1
  return 2 * Math.exp(-step / 800) + 0.15 * noise + 0.1 * (seed % 7)
}

/** What a step of the case reports. */
function metricsAt({ shows, layers }: UiCase, step: number): Record<string, number> {
  const names =
    shows === 'charts'
      ? Array.from({ length: CHARTS }, (_, chart) => chartLines(chart).map((l) => l.metric)).flat()
      : Array.from({ length: layers + 1 }, (_, layer) => layerEntropy(layer))
  if (shows === 'learning') names.push(...OTHERS)
  return Object.fromEntries(names.map((name, i) => [name, made(i, step)]))
}

const OTHERS = [
  REWARD,
  greedyAccuracy(PRESETS[0].experiment.task.id),
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/grad_norm',
  'response_length/mean',
  'group/informative',
  'train/loss',
]

/** Other problems at each step. */
function madeSamples(step: number) {
  return Array.from({ length: 32 }, (_, i) => ({
    prompt: `${100 + ((8 * step + (i >> 2)) % 600)}+234=`,
    response: String(334 + ((8 * step + i) % 600)),
    ground_truth: String(334 + ((8 * step + (i >> 2)) % 600)),
    score: i % 2,
    advantage: i % 2 ? 1 : -1,
    response_length: 4,
    is_ended: true,
  }))
}

/** A run with a number of steps that is still training. */
function begin(uiCase: UiCase): void {
  const { steps, layers } = uiCase
  const { experiment } = PRESETS[0]
  const runExperiment = {
    ...experiment,
    model: { ...experiment.model, num_hidden_layers: layers },
    phases: experiment.phases.map((phase, i) => ({ ...phase, steps: i === 0 ? 400 : 2 * steps })),
  }
  const series = new Map<string, Series>()
  for (let step = 0; step <= steps; step++) appendMetrics(series, step, metricsAt(uiCase, step))
  labStore.setState({
    ...emptyRun(),
    adapter: uiCase.pictureHeight ? SOFTWARE : undefined,
    status: 'running',
    run: 1,
    runExperiment,
    experiment: runExperiment,
    runDocument: runExperiment,
    phase: 1,
    phase_switches: [
      { step: 0, phase: 0, reason: 'start' },
      { step: 400, phase: 1, reason: 'steps' },
    ],
    series,
    step: steps,
  })
}

function Charts() {
  return (
    <div className="charts">
      {Array.from({ length: CHARTS }, (_, chart) => (
        <MetricChart
          key={chart}
          id={`made-${chart}`}
          title={`Chart ${chart}`}
          note="made up"
          lines={LINES_OF[chart]}
          height={232}
          formatY={formatTick}
          formatValue={formatNumber}
        />
      ))}
    </div>
  )
}
const LINES_OF = Array.from({ length: CHARTS }, (_, chart) => chartLines(chart))

const SHOWN = {
  charts: () => <Charts />,
  heatmap: () => <EntropyMap height={232} />,
  learning: () => <App />,
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let present: UiCase | undefined

/** Shows a case and waits until everything is drawn. */
async function open(uiCase: UiCase): Promise<void> {
  present = uiCase
  begin(uiCase)
  followTheme()
  // Where updates come in every frame, the bench is the clock.
  if (uiCase.per_second) startTicker()
  const root = document.getElementById('root')
  if (!root) throw new Error('ui.html has no root')
  createRoot(root).render(SHOWN[uiCase.shows]())
  while (!document.querySelector('.recharts-surface')) await nextFrame()
  // What is out of view is not painted.
  if (!uiCase.pictureHeight) document.querySelector('.charts')?.scrollIntoView()
  await wait(500)
}

/** One more step of the run. */
function step(state: LabState, uiCase: UiCase): LabState {
  const next = state.step + 1
  const metrics = metricsAt(uiCase, next)
  const of = { run: 1, step: next, phase: 1, phase_step: next - 400 }
  const after = applyEvent(state, { type: 'step', ...of, metrics }, performance.now())
  if (uiCase.shows !== 'learning') return after
  return applyEvent(
    after,
    { type: 'samples', run: 1, step: next, samples: madeSamples(next) },
    performance.now(),
  )
}

/** A number of updates of the case that is shown. */
async function update(count: number): Promise<void> {
  const uiCase = present
  if (!uiCase) throw new Error('no case is shown')
  for (let i = 0; i < count; i++) {
    labStore.setState((state) => step(state, uiCase))
    if (uiCase.per_second) await wait(1000 / uiCase.per_second)
    else {
      uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
      await nextFrame()
    }
  }
}

const uiBench = { cases: () => UI_CASES, open, update }
export type UiBench = typeof uiBench
Object.assign(globalThis, { uiBench })
