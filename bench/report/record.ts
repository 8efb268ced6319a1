// Writes a results file: the measurements, and the same as a flat list of comparisons with two
// numbers and their ratio each.

import type { FeatureRow } from '../page/features.ts'
import type { LimitsRow } from '../page/limits.ts'
import type { MatmulRow } from '../page/matmul.ts'
import type { ModelRow } from '../page/models.ts'
import type { PartsRow } from '../page/parts.ts'
import type { ProductRow } from '../page/products.ts'
import type { ScalingRow } from '../page/scaling.ts'
import type { SftRow } from '../page/sft.ts'
import type { TrainingRow } from '../page/training.ts'
import type { UiRow } from '../page/ui.tsx'
import type { VariantsRecord } from '../page/variants.ts'

/** The built page as it opens: its largest part is painted after so long on a CPU so many times
 * slower, and its heap at rest. */
export interface Opening {
  readonly slowdown: number
  readonly largest_paint_ms: number
  readonly heap_mb: number
}

/** Milliseconds of JavaScript inside calls of Gpu in a step of a preset on which nothing
 * computes. */
export interface EncodingRow {
  readonly preset: string
  readonly steps: number
  readonly dispatches: number
  readonly least_ms: number
  readonly tenth_ms: number
  readonly median_ms: number
}

/** A run of the built page, as a person has it. */
export interface PageRun {
  /** From the press of Train. */
  readonly first_step_ms: number
  /** Steps after the first one. */
  readonly steps: number
  readonly step_ms: number
  /** CPU time of the page's thread. */
  readonly thread_ms_per_step: number
  /** The benchmark's card: label and value of each line. */
  readonly card: readonly (readonly [string, string])[]
}

/** Measurements of one day on one adapter. Suites that were not run are absent, as are those that
 * an older bench did not have. */
export interface BenchRecord {
  readonly date: string
  readonly adapter: string
  readonly chromium: string
  readonly machine: string
  /** Versions of the other libraries. */
  readonly peers?: Readonly<Record<string, string>>
  readonly matmul?: readonly MatmulRow[]
  readonly variants?: VariantsRecord
  readonly products?: readonly ProductRow[]
  readonly sft?: readonly SftRow[]
  readonly training?: TrainingRow
  readonly parts?: PartsRow
  readonly encoding?: EncodingRow
  readonly limits?: LimitsRow
  readonly features?: readonly FeatureRow[]
  readonly models?: readonly ModelRow[]
  readonly scaling?: readonly ScalingRow[]
  readonly ui?: readonly UiRow[]
  readonly opening?: Opening
  readonly run?: PageRun
  /** Made from the rest; absent in files of an older bench. */
  readonly comparisons?: readonly Comparison[]
}

/** `what` took `value`, `against` took `baseline`. */
export interface Comparison {
  readonly suite: string
  readonly name: string
  readonly unit: 'ms' | 'ms per token' | 'dispatches' | 'submits' | 'readbacks' | 'bytes'
  readonly what: string
  readonly value: number
  readonly against: string
  readonly baseline: number
  /** value ÷ baseline. */
  readonly ratio: number
}

type Side = readonly [label: string, value: number]

function compare(
  suite: string,
  name: string,
  unit: Comparison['unit'],
  [what, value]: Side,
  [against, baseline]: Side,
): Comparison {
  return { suite, name, unit, what, value, against, baseline, ratio: value / baseline }
}

const OURS = 'understory'

/** Every other library against ours. */
const peers = (suite: string, name: string, ms: Readonly<Record<string, number>>): Comparison[] =>
  Object.entries(ms)
    .filter(([library]) => library !== OURS)
    .map(([library, value]) => compare(suite, name, 'ms', [library, value], [OURS, ms[OURS]]))

/** Every part of a step against the whole. */
const shares = (
  suite: string,
  name: string,
  { step, ...parts }: Readonly<Record<string, number>>,
): Comparison[] =>
  Object.entries(parts).map(([part, value]) =>
    compare(suite, name, 'ms', [part, value], ['step', step]),
  )

/** Passes of every layer's policy against those of the whole model. */
function layers({ preset, layers }: PartsRow): Comparison[] {
  const whole = layers[layers.length - 1]
  return layers.flatMap((row) =>
    (['log_prob', 'update'] as const).map((pass) =>
      compare(
        'parts',
        `${preset} ${pass}`,
        'ms',
        [`layer ${row.layer}`, row[pass]],
        [`layer ${whole.layer}`, whole[pass]],
      ),
    ),
  )
}

const COSTS = [
  ['ms', 'ms'],
  ['dispatches', 'dispatches'],
  ['submits', 'submits'],
  ['readbacks', 'reads'],
  ['bytes', 'live_bytes'],
] as const

const features = ({ name, on, off }: FeatureRow): Comparison[] =>
  COSTS.map(([unit, cost]) =>
    compare('features', name, unit, ['with', on[cost]], ['without', off[cost]]),
  )

/** Every size against the base model's. */
function scaling({ axis, base, points }: ScalingRow): Comparison[] {
  const at = points.find(({ value }) => value === base) ?? points[0]
  return points.flatMap((point) => [
    compare(
      'scaling',
      axis,
      'ms per token',
      [`${point.value}`, point.ms_per_token],
      [`${at.value}`, at.ms_per_token],
    ),
    compare(
      'scaling',
      axis,
      'bytes',
      [`${point.value}`, plannedBytes(point)],
      [`${at.value}`, plannedBytes(at)],
    ),
  ])
}

/** All planned bytes of a point. */
export const plannedBytes = ({ planned_bytes }: ScalingRow['points'][number]): number =>
  Object.values(planned_bytes).reduce((a, b) => a + b, 0)

/** Every pair of numbers in a file, also in one of an older bench. */
export function comparisonsOf(record: BenchRecord): Comparison[] {
  const { matmul = [], sft = [], training, parts, features: pairs = [] } = record
  return [
    ...matmul.flatMap(({ of, op, m, n, k, ms }) =>
      peers('matmul', `${of} ${op} [${m}, ${n}] over ${k}`, ms),
    ),
    ...sft.flatMap(({ model, ms, queued_ms }) => [
      ...peers('sft', `${model}, awaited`, ms),
      ...peers('sft', `${model}, queued`, queued_ms),
    ]),
    ...(training ? shares('training', training.preset, training.ms) : []),
    ...(parts ? [...shares('parts', parts.preset, parts.ms), ...layers(parts)] : []),
    ...pairs.flatMap(features),
    ...(record.scaling ?? []).flatMap(scaling),
  ]
}
