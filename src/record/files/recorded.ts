// Declares a recording: the experiment, the machine, and the events of the worker, with times.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'

/** The events about the run itself; the others are about the machine that plays it. */
const RECORDED_TYPES = [
  'phase',
  'step',
  'samples',
  'generations',
  'scored_pairs',
  'memory',
  'trace',
  'observed',
] as const
type RecordedType = (typeof RECORDED_TYPES)[number]

type WithoutRun<T> = T extends LabEvent ? Omit<T, 'run'> : never
/** An event without the number of the run, which the page that plays it gives. */
export type RecordedEvent = WithoutRun<Extract<LabEvent, { type: RecordedType }>>

export interface Recording {
  readonly experiment: Experiment
  readonly adapter: AdapterFacts
  /** The vocabulary that its tokens are of; recordings of earlier versions do not say it: theirs is
   * the task's. */
  readonly tokens?: readonly string[]
  /** YYYY-MM-DD. */
  readonly date: string
  readonly versions: Readonly<Record<string, string>>
  /** Milliseconds since the first event, which never go back. */
  readonly events: readonly { readonly at_ms: number; readonly event: RecordedEvent }[]
}

export const isRecorded = (event: LabEvent): event is Extract<LabEvent, { type: RecordedType }> =>
  (RECORDED_TYPES as readonly string[]).includes(event.type)
