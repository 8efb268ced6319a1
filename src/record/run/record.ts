// Declares what is kept of a run, as plain data: a small header for the table, and parts that are
// only ever added.

import type { RolloutDType } from '../../document/experiment/rollout_dtype.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Thinned } from '../../host/columns/thinning.ts'
import type { Observation } from '../../host/protocol/observation.ts'
import type { LabError } from '../../host/protocol/protocol.ts'
import type { Generation, Metrics, RolloutSample, TokenTable } from '../../host/protocol/results.ts'
import type { KeptKind } from './kept_run.ts'
import type { PhaseSwitch, SteeringMark } from './run_parts.ts'
import type { MetricSummary } from './summary.ts'

/** Of the data below. A record of a newer version is listed, but not opened. */
export const RECORD_VERSION = 1

export const RECORD_STATUSES = ['running', 'paused', 'finished', 'stopped', 'failed'] as const
/** stopped: dropped, or its page was closed. */
export type RecordStatus = (typeof RECORD_STATUSES)[number]

export const isLive = (status: RecordStatus): boolean => status === 'running' || status === 'paused'

/** Where a run was trained that this lab only shows. */
export interface RunSource {
  /** What wrote its log: verl, trl or tensorboard. */
  readonly kind: string
  /** The name of the file. */
  readonly file: string
  /** What the import left out or changed, a sentence each. */
  readonly remarks: readonly string[]
  /** By the lab's name of a metric what the log calls it, where that is another. */
  readonly names?: Readonly<Record<string, string>> | undefined
  /** When it began, where the log says so: milliseconds since 1970. */
  readonly begun?: number | undefined
  /** As the log or its name says. */
  readonly seed?: number | undefined
  /** What the log or its name calls the runs that differ in their seeds alone. */
  readonly setting?: string | undefined
  /** The file ends in the middle of something: how far the run went is not known. */
  readonly is_cut?: boolean | undefined
}

/** The study that a run was trained for, which keeps its result in place of a record. */
export interface RunStudy {
  readonly id: string
  readonly name: string
  readonly arm: string
  /** What the run took. */
  readonly seconds: number
}

/** A run as the table shows it. Written again and again while the run trains, so it holds no
 * history. */
export interface RunHeader {
  readonly id: string
  readonly record_version: number
  /** The preset that its settings were last taken from. */
  readonly preset_id: string
  /** The document that does the run again: steering, verdicts and pinned kernels included. */
  readonly document: Experiment
  /** What the run trained at last. */
  readonly experiment: Experiment
  /** The name of the adapter; '' where the browser says none. */
  readonly adapter: string
  /** The experiment's field that pins the run's kernels; '' for the default ones. */
  readonly kernels: string
  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  readonly rollout_dtype?: RolloutDType | undefined
  /** The vocabulary that its samples and its model were made with. Older records have none: theirs
   * is the task's. */
  readonly tokens?: readonly string[] | undefined
  /** The versions of the page and of its worker's messages. */
  readonly versions: { readonly understory: string; readonly protocol: number }
  /** Milliseconds since 1970; NaN where nobody knows. */
  readonly started_at: number
  readonly ended_at: number | undefined
  readonly status: RecordStatus
  readonly error: LabError | undefined
  readonly step: number
  readonly phase: number
  readonly phase_step: number
  readonly phase_switches: readonly PhaseSwitch[]
  readonly steered: readonly SteeringMark[]
  /** The last known value of every metric. */
  readonly metrics: Metrics
  readonly summaries: Readonly<Record<string, MetricSummary>>
  /** The run whose settings it began with, or whose checkpoint. */
  readonly parent: string | undefined
  /** The step of that checkpoint; undefined where it began at its first step. */
  readonly parent_step?: number | undefined
  /** Its page was closed while it trained: it may be continued. */
  readonly was_left?: boolean | undefined
  /** It was imported from a log: of its settings, only the name and the number of steps are
   * known. */
  readonly source?: RunSource | undefined
  /** In no record: a study keeps the run, and when it began is not known. */
  readonly study?: RunStudy | undefined
}

/** What a person says about a run. Apart from the header, so that neither ever overwrites the
 * other. */
export interface RunLabels {
  readonly id: string
  /** '' = as its experiment is named, else after what is special about it. */
  readonly name: string
  readonly notes: string
  /** Words to find and group it by, each once, in the order in which they were given. */
  readonly tags: readonly string[]
  /** An index of RUN_COLORS. */
  readonly color: number
  readonly pinned: boolean
  readonly hidden: boolean
  readonly baseline: boolean
}

export const NO_LABELS: Omit<RunLabels, 'id' | 'color'> = {
  name: '',
  notes: '',
  tags: [],
  pinned: false,
  hidden: false,
  baseline: false,
}

/** Rows of a metric. */
export interface StoredColumns {
  readonly steps: Float64Array
  readonly values: Float64Array
  /** What the column had lost by then. */
  readonly thinned?: Thinned | undefined
}

/** What the columns of a run grew by. */
export interface StoredChunk {
  readonly run: string
  /** Counts up from 0. */
  readonly part: number
  readonly columns: Readonly<Record<string, StoredColumns>>
}

export interface KeptItems {
  readonly samples: readonly RolloutSample[]
  readonly observations: Observation
  readonly traces: TokenTable
  readonly generations: readonly Generation[]
}

/** What a step left for looking back. */
export interface StoredItem {
  readonly run: string
  readonly kind: KeptKind
  readonly step: number
  readonly bytes: number
  readonly item: KeptItems[KeptKind]
}

/** Tokens of the page's colours, which keep 4.5:1 against the light and the dark page and stay
 * apart without colour vision, in lightness or along blue and yellow; with a dash pattern of their
 * own, so that colour is never all there is. */
export const RUN_COLORS: readonly { readonly color: string; readonly dash: readonly number[] }[] = [
  { color: '--run-1', dash: [] },
  { color: '--run-2', dash: [7, 3] },
  { color: '--run-3', dash: [2, 3] },
  { color: '--run-4', dash: [9, 3, 2, 3] },
  { color: '--run-5', dash: [4, 2] },
  { color: '--run-6', dash: [12, 3] },
  { color: '--run-7', dash: [3, 2, 1, 2] },
  { color: '--run-8', dash: [1, 2] },
]

/** The seed of a run; undefined for one that was imported and does not say it. */
export const seedOf = ({ experiment, source }: RunHeader): number | undefined =>
  source ? source.seed : experiment.seed

export const runColor = (index: number) => RUN_COLORS[index % RUN_COLORS.length]
