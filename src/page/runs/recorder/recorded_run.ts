// Describes one run that is being recorded: what is known of it, what of it is written, and what is
// new since.
import type { Series } from '../../../host/columns/series.ts'
import { Kept } from '../../../record/run/kept.ts'
import { KEPT_KINDS, type KeptKind } from '../../../record/run/kept_run.ts'
import type { KeptItems, StoredColumns, StoredItem } from '../../../record/run/record.ts'
import type { RunWrite } from '../../../record/run/storage.ts'
import { extendSummary, type MetricSummary } from '../../../record/run/summary.ts'
import type { LabState } from '../../state/store.ts'

/** A record in more parts than this is written again as one. */
export const MAX_PARTS = 512
/** Bytes that a record keeps of each kind of item: less than the page itself keeps. */
const RECORD_KEPT_BYTES = 4e6

/** The run, and how much of it is written. */
export interface RecordedRun {
  readonly id: string
  readonly run: number
  readonly started_at: number
  readonly preset_id: string
  readonly parent: string | undefined
  readonly parent_step: number | undefined
  /** The newest state of this run. */
  state: LabState
  ended_at: number | undefined
  wasDropped: boolean
  was_left: boolean
  /** The state that it went back to, as far as that is written. */
  restored: LabState['restored']
  /** So many rows of these columns are written. */
  written: Map<string, { readonly column: Series; readonly rows: number }>
  /** The last step of each metric that is in `summaries`. */
  summarised: Map<string, number>
  summaries: Record<string, MetricSummary>
  parts: number
  /** The storage was closed: what is written may be gone. */
  isGone: boolean
  readonly kept: { readonly [K in KeptKind]: Kept<KeptItems[K]> }
  /** Items in the storage, by kind and step. */
  stored: Map<string, unknown>
  flushedStep: number
}

const keyOf = (kind: KeptKind, step: number) => `${kind} ${step}`

/** A run of which nothing is written yet. */
export const newRun = (
  facts: Pick<
    RecordedRun,
    'id' | 'run' | 'started_at' | 'preset_id' | 'parent' | 'parent_step' | 'state'
  >,
): RecordedRun => ({
  ...facts,
  ended_at: undefined,
  wasDropped: false,
  was_left: false,
  restored: undefined,
  written: new Map(),
  summarised: new Map(),
  summaries: {},
  parts: 0,
  isGone: false,
  kept: {
    samples: new Kept(RECORD_KEPT_BYTES),
    observations: new Kept(RECORD_KEPT_BYTES),
    traces: new Kept(RECORD_KEPT_BYTES),
    generations: new Kept(RECORD_KEPT_BYTES),
  },
  stored: new Map(),
  flushedStep: -1,
})

/** What the page has of steps before this one was read from the record: it is stored already. */
export function markStored(own: RecordedRun, knownUntil: number): void {
  for (const kind of KEPT_KINDS)
    for (const { step, item } of own.state.kept[kind].items)
      if (step < knownUntil) own.stored.set(keyOf(kind, step), item)
}

/** Rows since the last write. */
export function newColumns({ state, written }: RecordedRun): Record<string, StoredColumns> {
  const columns: Record<string, StoredColumns> = {}
  for (const [metric, { steps, values, length, thinned }] of state.series) {
    const from = written.get(metric)?.rows ?? 0
    if (length > from)
      columns[metric] = {
        steps: steps.slice(from, length),
        values: values.slice(from, length),
        ...(thinned && { thinned }),
      }
  }
  return columns
}

/** Whether the record must be written again: it has rows that are no longer kept, or too many
 * parts. */
export const isToBeRewritten = ({ state, written, parts, isGone }: RecordedRun): boolean =>
  isGone ||
  parts >= MAX_PARTS ||
  [...written].some(([metric, { column }]) => state.series.get(metric) !== column)

/** Adds the rows since the last call to the summaries. */
export function summarise(recording: RecordedRun): void {
  const { state, summarised, summaries } = recording
  for (const [metric, column] of state.series) {
    const { steps, values, length } = column
    const from = column.after(summarised.get(metric) ?? Number.NEGATIVE_INFINITY)
    if (length === from) continue
    summaries[metric] = extendSummary(summaries[metric], values, from, length)
    summarised.set(metric, steps[length - 1])
  }
}

function takeKept<K extends KeptKind>(recording: RecordedRun, kind: K): void {
  const own: Kept<KeptItems[K]> = recording.kept[kind]
  const newest = own.items.at(-1)?.step ?? -1
  const from = recording.state.kept[kind] as unknown as Kept<KeptItems[K]>
  for (const { step, item, bytes } of from.items) if (step >= newest) own.push(step, item, bytes)
}

/** Which kept items are to be written, and which are no longer kept. */
export function keptChanges(recording: RecordedRun): Pick<RunWrite, 'items' | 'dropped'> & {
  readonly stored: Map<string, unknown>
} {
  const items: StoredItem[] = []
  const stored = new Map<string, unknown>()
  for (const kind of KEPT_KINDS) {
    takeKept(recording, kind)
    for (const { step, item, bytes } of recording.kept[kind].items) {
      const key = keyOf(kind, step)
      stored.set(key, item)
      if (recording.stored.get(key) !== item)
        items.push({ run: recording.id, kind, step, bytes, item })
    }
  }
  const dropped = [...recording.stored.keys()]
    .filter((key) => !stored.has(key))
    .map((key) => {
      const [kind, step] = key.split(' ')
      return { kind: kind as KeptKind, step: Number(step) }
    })
  return { items, dropped, stored }
}

/** The run went back to an earlier step: its record is written again from the start. */
export function rewind(own: RecordedRun, step: number): void {
  own.written = new Map()
  own.summarised = new Map()
  own.summaries = {}
  own.parts = 0
  own.flushedStep = -1
  own.ended_at = undefined
  for (const kind of KEPT_KINDS) own.kept[kind].cut(step)
}
