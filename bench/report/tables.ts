// Prints results as tables on the terminal.
import type { FeatureRow } from '../page/features.ts'
import type { LimitsRow } from '../page/limits.ts'
import type { ModelRow } from '../page/models.ts'
import type { PartsRow } from '../page/parts.ts'
import type { ProductRow } from '../page/products.ts'
import type { ScalingRow } from '../page/scaling.ts'
import type { SftRow } from '../page/sft.ts'
import type { TrainingRow } from '../page/training.ts'
import type { UiRow } from '../page/ui.tsx'
import type { VariantsRecord } from '../page/variants.ts'
import {
  type BenchRecord,
  type EncodingRow,
  type Opening,
  type PageRun,
  plannedBytes,
} from './record.ts'

type Cell = string | number
type Peers = Readonly<Record<string, string>>

function table(header: readonly Cell[], rows: readonly (readonly Cell[])[]): void {
  const all = [header, ...rows].map((row) => row.map(String))
  const columns = Math.max(...all.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...all.map((row) => row[i]?.length ?? 0)),
  )
  for (const row of all) console.log(row.map((cell, i) => cell.padStart(widths[i])).join('  '))
  console.log()
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

/** Prints every suite of a file, also of one of an older bench. */
export function printRecord(record: BenchRecord): void {
  const { date, adapter, chromium, machine, peers = {} } = record
  console.log(`${date}, ${adapter}, Chromium ${chromium}, ${machine}\n`)
  if (record.matmul) printMatmul(record.matmul, peers)
  if (record.variants) printVariants(record.variants)
  for (const row of record.products ?? []) printProduct(row)
  for (const row of record.sft ?? []) printSft(row, peers)
  if (record.training) printTraining(record.training)
  if (record.parts) printParts(record.parts)
  if (record.encoding) printEncoding(record.encoding)
  if (record.limits) printLimits(record.limits)
  if (record.features) printFeatures(record.features)
  for (const row of record.models ?? []) printModel(row)
  for (const row of record.scaling ?? []) printScaling(row)
  if (record.opening) printOpening(record.opening)
  if (record.ui) printUi(record.ui)
  if (record.run) printRun(record.run)
}

export function printMatmul(matmul: NonNullable<BenchRecord['matmul']>, peers: Peers): void {
  const names = ['understory', ...Object.keys(peers)]
  const titles = names.map((name) => (peers[name] ? `${name} ${peers[name]}` : name))
  console.log('Matrix products [m, n] over k, float32: median ms (GFLOP/s); ratio = peer ÷ ours')
  console.log('nt: y = x Wᵀ; nn: d_x = d_y W; tn: d_W = d_yᵀ x')
  table(
    ['', 'm', 'n', 'k', ...titles, ...Object.keys(peers).map((name) => `${name} ÷ ours`), 'error'],
    matmul.map(({ of, op, m, n, k, ms, error }) => [
      `${of} ${op}`,
      m,
      n,
      k,
      ...names.map(
        (name) => `${ms[name].toFixed(3)} (${((2e-6 * m * n * k) / ms[name]).toFixed(1)})`,
      ),
      ...Object.keys(peers).map((name) => (ms[name] / ms.understory).toFixed(2)),
      Math.max(...Object.values(error)).toExponential(1),
    ]),
  )
}

/** The quickest variants of every product. */
const SHOWN = 6

export function printVariants({ peak, rows }: VariantsRecord): void {
  console.log(
    `Our variants of matrix products, quickest first: ms (TFLOP/s). The default has a *, a wrong result a !.`,
  )
  console.log(
    `This adapter: ${(peak.gflops / 1e3).toFixed(1)} TFLOP/s, ${peak.gbps.toFixed(0)} GB/s copied`,
  )
  table(
    ['', 'm', 'n', 'k', 'default', 'best ÷ default', 'part of peak'],
    rows.map(({ of, op, m, n, k, by_default, timings }) => {
      const rate = (ms: number) => (2e-9 * m * n * k) / ms
      const defaultMs = timings.find(({ variant }) => variant === by_default)?.ms ?? Number.NaN
      const sorted = [...timings].sort((p, q) => p.ms - q.ms)
      const cells = sorted.slice(0, SHOWN).map(({ variant, ms, is_wrong }) => {
        const mark = `${variant === by_default ? '*' : ''}${is_wrong ? '!' : ''}`
        return `${variant}${mark} ${ms.toFixed(4)} (${rate(ms).toFixed(2)})`
      })
      const best = sorted[0].ms
      return [
        `${of} ${op}`,
        m,
        n,
        k,
        `${defaultMs.toFixed(4)} (${rate(defaultMs).toFixed(2)})`,
        (best / defaultMs).toFixed(2),
        `${Math.round((1e5 * rate(best)) / peak.gflops)} %`,
        ...cells,
      ]
    }),
  )
}

/** Every variant of one product, quickest first. */
export function printProduct({ of, op, m, n, k, peak, by_default, timings }: ProductRow): void {
  const tflops = (peak.gflops / 1e3).toFixed(1)
  console.log(`${of} ${op} [${m}, ${n}] over ${k}; this adapter: ${tflops} TFLOP/s`)
  table(
    ['variant', 'ms', 'TFLOP/s', 'part of peak', ''],
    [...timings]
      .sort((p, q) => p.ms - q.ms)
      .map(({ variant, ms, is_wrong }) => {
        const gflops = (2e-6 * m * n * k) / ms
        const mark = is_wrong ? 'wrong' : variant === by_default ? 'default' : ''
        const share = `${((100 * gflops) / peak.gflops).toFixed(1)} %`
        return [variant, ms.toFixed(4), (gflops / 1e3).toFixed(2), share, mark]
      }),
  )
}

export function printSft(row: SftRow, peers: Peers): void {
  const { model, num_parameters, rows, width, ms, queued_ms, checked, failed } = row
  console.log(
    `One supervised step of '${model}' (${num_parameters} weights) on ${rows} × ${width} tokens: median ms`,
  )
  if (row.is_software)
    console.log(
      'This adapter is a CPU, so the batch is smaller than on a GPU (an eighth; 16 × 64).',
    )
  table(
    ['', 'ms', '÷ ours', 'ms queued', '÷ ours', 'first ms', 'dispatches', 'loss', 'after 3 steps'],
    Object.entries(checked).map(([name, { losses, dispatches, first_ms }]) => [
      peers[name] ? `${name} ${peers[name]}` : name,
      ms[name].toFixed(1),
      (ms[name] / ms.understory).toFixed(2),
      queued_ms[name]?.toFixed(1) ?? '',
      queued_ms[name] ? (queued_ms[name] / queued_ms.understory).toFixed(2) : '',
      first_ms.toFixed(0),
      dispatches,
      losses[0].toFixed(6),
      losses[losses.length - 1].toFixed(6),
    ]),
  )
  for (const [name, why] of Object.entries(failed)) console.log(`${name} could not: ${why}\n`)
}

export function printTraining(row: TrainingRow): void {
  const { preset, steps, ms, dispatches, submits, reads, live_bytes } = row
  console.log(`One RL step of '${preset}' (whole model): medians of ${steps} steps`)
  table(
    ['part', 'ms'],
    Object.entries(ms).map(([name, value]) => [name, value.toFixed(1)]),
  )
  const memory = (live_bytes / 2 ** 20).toFixed(1)
  console.log(
    `${dispatches} dispatches, ${submits} submits and ${reads} readbacks a step; ${memory} MiB\n`,
  )
}

export function printModel(row: ModelRow): void {
  const { model, num_parameters, size, is_software, load_mb_per_second: load, trained } = row
  const { prompts, n, prompt, response } = size
  console.log(
    `A model of ${(num_parameters / 1e6).toFixed(1)} million random weights (${model}), ${prompts} prompts × ${n} responses, ${prompt} + ${response} tokens: medians`,
  )
  if (is_software) console.log('This adapter is a CPU, so the batch is smaller than on a GPU.')
  console.log(
    `Loading: ${load.float32.toFixed(0)} MB/s of float32 as it is, ${load.bfloat16.toFixed(0)} MB/s made bfloat16`,
  )
  const [full] = trained
  table(
    ['trains', 'step ms', '÷ full', 'rollout ms', 'tokens/s', 'planned MB', 'counted MB'],
    trained.map(({ how, ms, tokens_per_second, planned_bytes, counted_bytes }) => [
      how,
      ms.step.toFixed(1),
      (ms.step / full.ms.step).toFixed(2),
      ms.rollout.toFixed(1),
      tokens_per_second.toFixed(0),
      (planned_bytes / 1e6).toFixed(1),
      (counted_bytes / 1e6).toFixed(1),
    ]),
  )
  console.log(
    'No other library here trains a model by reinforcement, so there is no ratio to one.\n',
  )
}

export function printParts({ preset, samples, ms, layers, kernels, javascript }: PartsRow): void {
  console.log(`One RL step of '${preset}' by stage (whole model): median ms of ${samples}`)
  table(
    ['stage', 'ms', '÷ step'],
    Object.entries(ms).map(([name, value]) => [
      name,
      value.toFixed(1),
      (value / ms.step).toFixed(2),
    ]),
  )
  const whole = layers[layers.length - 1]
  console.log(
    'The passes of a phase that trains layer k, and their share of those of the whole model',
  )
  table(
    ['k', 'k / L', 'log-prob ms', 'share', 'update ms', 'share'],
    layers.map(({ layer, log_prob, update }) => [
      layer,
      (layer / whole.layer).toFixed(2),
      log_prob.toFixed(1),
      (log_prob / whole.log_prob).toFixed(2),
      update.toFixed(1),
      (update / whole.update).toFixed(2),
    ]),
  )
  if (kernels) printKernels(kernels)
  const { encode_ms, step_without_gpu_ms, thread_ms, sampled_ms, dispatches, steps } = javascript
  console.log(`JavaScript of a step, with command buffers thrown away (${steps} steps)`)
  table(
    ['', 'ms'],
    [
      [`encoding ${dispatches} dispatches, uploads, submits`, encode_ms.toFixed(2)],
      ['inside JavaScript, by sampling', sampled_ms?.script.toFixed(2) ?? 'not offered'],
      ['collecting its garbage', sampled_ms?.garbage.toFixed(2) ?? 'not offered'],
      ['CPU time of the thread', thread_ms?.toFixed(2) ?? 'not offered'],
      ['the whole step on the clock', step_without_gpu_ms.toFixed(2)],
    ],
  )
}

/** Kernels of a step that are printed. */
const MOST_KERNELS = 24

function printKernels(kernels: NonNullable<PartsRow['kernels']>): void {
  const all = kernels.reduce((sum, { time_ms = 0 }) => sum + time_ms, 0)
  console.log(`The kernels of a step by the GPU's clock, ${all.toFixed(1)} ms: the slowest`)
  table(
    ['kernel', 'calls', 'ms', '÷ all', 'ms a call', 'GFLOP/s'],
    kernels
      .slice(0, MOST_KERNELS)
      .map(({ name, calls, time_ms = 0, flops }) => [
        name.replace(/ \(.*\)$/, ''),
        calls,
        time_ms.toFixed(2),
        (time_ms / all).toFixed(2),
        (time_ms / calls).toFixed(4),
        flops === undefined ? '' : (flops / time_ms / 1e6).toFixed(0),
      ]),
  )
}

export function printEncoding(row: EncodingRow): void {
  const { preset, steps, dispatches, least_ms, tenth_ms, median_ms } = row
  const ms = [least_ms, tenth_ms, median_ms].map((value) => value.toFixed(2))
  console.log(
    `JavaScript to encode a step of ${preset} (${dispatches} dispatches, nothing computes): least ${ms[0]}, tenth ${ms[1]}, median ${ms[2]} ms of ${steps} steps\n`,
  )
}

export function printLimits(row: LimitsRow): void {
  const { m, n, k, most_ms, whole_ms, parts, parts_ms, has_same_bits } = row
  console.log(
    `A product of ${m} x ${n} over ${k}: ${whole_ms.toFixed(1)} ms as one dispatch, of which ${most_ms} are allowed; ${parts_ms.toFixed(1)} ms in ${parts} parts, with ${has_same_bits ? 'the same' : 'other'} bits\n`,
  )
}

export function printFeatures(rows: readonly FeatureRow[]): void {
  console.log(
    'One RL step with and without: ratio = with ÷ without; dispatches to MB = with - without',
  )
  table(
    ['', 'rows', 'R', 'with ms', 'without', 'ratio', 'dispatches', 'submits', 'reads', 'MB'],
    rows.map(({ name, rows, max_response_length, on, off }) => [
      name,
      rows,
      max_response_length,
      on.ms.toFixed(1),
      off.ms.toFixed(1),
      (on.ms / off.ms).toFixed(2),
      ...(['dispatches', 'submits', 'reads'] as const).map((cost) =>
        difference(on[cost], off[cost]),
      ),
      difference(on.live_bytes / 1e6, off.live_bytes / 1e6, 1),
    ]),
  )
}

/** The difference of `on` and `off`, with its sign. */
function difference(on: number, off: number, digits = 0): string {
  const more = (on - off).toFixed(digits)
  return on > off ? `+${more}` : more
}

export function printScaling({ axis, base, points }: ScalingRow): void {
  const at = points.find(({ value }) => value === base) ?? points[0]
  console.log(`One supervised step by ${axis} (all else as the base model, ${axis} ${base})`)
  const kinds = ['weights', 'gradients', 'optimizer', 'activations', 'batch', 'scratch'] as const
  table(
    [axis, 'weights', 'tokens', 'ms', 'µs a token', '÷ base', 'MB', ...kinds, 'loss'],
    points.map((point) => [
      point.value,
      point.num_parameters,
      point.tokens,
      point.ms.toFixed(1),
      (1000 * point.ms_per_token).toFixed(1),
      (point.ms_per_token / at.ms_per_token).toFixed(2),
      megabytes(plannedBytes(point)),
      ...kinds.map((kind) => megabytes(point.planned_bytes[kind])),
      point.loss.toFixed(4),
    ]),
  )
}

/** Most that opening the page may come to. */
const OPENING_BUDGET = { largest_paint_ms: 1500, heap_mb: 30 }

export function printOpening({ slowdown, largest_paint_ms, heap_mb }: Opening): void {
  console.log('The page as it opens, beside its budget')
  table(
    ['', '', 'budget'],
    [
      [
        `largest contentful paint, ms, CPU ${slowdown} times slower`,
        largest_paint_ms.toFixed(0),
        OPENING_BUDGET.largest_paint_ms,
      ],
      ['JavaScript heap at rest, MB', heap_mb.toFixed(1), OPENING_BUDGET.heap_mb],
    ],
  )
}

export function printUi(rows: readonly UiRow[]): void {
  console.log('The page: CPU time of its thread per update, beside its budget')
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  table(
    ['', 'steps', 'ms', 'of the thread', 'budget'],
    rows.map(({ name, steps, ms, share, budget }) => [
      name,
      steps,
      ms.toFixed(2),
      share === undefined ? '' : percent(share),
      share === undefined ? `${budget} ms` : percent(budget),
    ]),
  )
}

export function printRun({
  first_step_ms,
  steps,
  step_ms,
  thread_ms_per_step,
  card,
}: PageRun): void {
  console.log(
    `The built page: first step ${(first_step_ms / 1000).toFixed(1)} s after Train, then ${step_ms.toFixed(1)} ms a step (${steps} steps), ${thread_ms_per_step.toFixed(1)} ms of them on the page's thread`,
  )
  for (const [label, value] of card) console.log(`  ${label}: ${value}`)
  console.log()
}
