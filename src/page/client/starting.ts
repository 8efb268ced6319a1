// Starts runs: from their first step, from a checkpoint, or in turns with another run; and drops
// them.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { CheckpointSource } from '../../host/protocol/checkpoint_facts.ts'
import type { LabCommand } from '../../host/protocol/protocol.ts'
import type { KeptOfRun } from '../../record/run/kept_run.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { connect, isConnected, labPage, post } from '../connection/connection.ts'
import { findContents } from '../contents/contents.ts'
import { contentsOf, contentsStore } from '../contents/here.ts'
import { checkpointSettings } from '../state/checkpoint_settings.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { isReplaying } from '../state/replay.ts'
import { emptyRun, labStore } from '../state/store.ts'
import { requestForStart } from './observing.ts'
import { forgetSetAside } from './stage.ts'
import { forgetEdits, forgetMoves } from './steering.ts'

/** The id that a run is kept under: 24 hexadecimal digits, different each time. */
export const newRecordId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')

/** The run steps only when it is given a turn. */
let isTakingTurns = false

export const takesTurns = (): boolean => isTakingTurns

/** Trains the experiment that the settings show, from its first step; a paused run waits before it.
 * Where files are still being read it begins once they are here, and `onBegun` is called then;
 * where one is missing it does not, and the notice asks for it. */
export function start(paused: boolean, onBegun: () => void = () => {}): void {
  const experiment = nextExperiment(labStore.getState())
  withContents(experiment, () => {
    begin({ experiment, record: newRecordId(), paused })
    onBegun()
  })
}

/** Does it at once where all files of the experiment are here, as for one that names none; a
 * recording needs none. */
function withContents(experiment: Experiment, work: () => void, hasWeights = false): void {
  const isHere = contentsOf(experiment) && contentsStore.getState().status !== 'broken'
  if (isHere || isReplaying()) work()
  else void findContents(experiment, hasWeights).then((isReady) => (isReady ? work() : undefined))
}

/** A run from its first step, or from a checkpoint, whose own experiment counts. */
interface Beginning {
  readonly experiment: Experiment
  readonly record: string
  readonly paused: boolean
  readonly from?: CheckpointSource
  /** Where the settings come from. */
  readonly preset_id?: string
  /** What earlier steps left for looking back. */
  readonly kept?: KeptOfRun
  /** Bytes of GPU memory that a person has allowed for it. */
  readonly allow_bytes?: number
}

/** What was begun last. */
let begun: Beginning | undefined

/** Starts a run again that was refused for its memory, with this many bytes allowed. */
export function trainAllowing(allow_bytes: number): void {
  if (!begun || isBusy(labStore.getState())) return
  // A run that continues has its record; another one begins.
  const record = begun.from?.kind === 'resume' ? begun.record : newRecordId()
  begin({ ...begun, record, allow_bytes })
}

function begin(beginning: Beginning): void {
  const { experiment, record, paused, from, preset_id, kept } = beginning
  begun = beginning
  isTakingTurns = false
  if (!isConnected()) connect()
  const { run, preset_id: present } = labStore.getState()
  forgetSetAside()
  forgetEdits()
  forgetMoves()
  labStore.setState({
    ...emptyRun(),
    ...(kept && { kept }),
    ...(preset_id !== undefined && { preset_id }),
    status: 'preparing',
    run: run + 1,
    record,
    experiment,
    wrongFields: [],
    runExperiment: experiment,
    runDocument: experiment,
    runPreset: preset_id ?? present,
  })
  postStart({ run: run + 1, record, experiment, paused, from })
}

/** Has the worker start a run that the store holds already. */
export function postStart(
  command: Pick<
    Extract<LabCommand, { type: 'start' }>,
    'run' | 'record' | 'experiment' | 'paused' | 'from'
  >,
): void {
  const kernel_cache = labPage().recall()
  const observe = requestForStart()
  const checkpoints = checkpointSettings()
  const allow_bytes = begun?.allow_bytes
  const contents = contentsOf(command.experiment) ?? []
  post({ type: 'start', ...command, contents, checkpoints, kernel_cache, observe, allow_bytes })
}

/** What a run that continues from a checkpoint was. */
export interface WentBefore {
  readonly experiment: Experiment
  readonly preset_id: string
  readonly kept?: KeptOfRun
}

/** Continues from a checkpoint: the same run, or one of its own that remembers where it comes
 * from. */
export function goOn(from: CheckpointSource, { experiment, preset_id, kept }: WentBefore): void {
  const record = from.kind === 'resume' ? from.record : newRecordId()
  const go = () =>
    begin({ experiment, record, paused: false, from, preset_id, ...(kept && { kept }) })
  withContents(experiment, go, true)
}

/** Begins a run that takes a step whenever `giveTurn` is called, gives its first turn, and calls
 * `onBegun`. */
export function trainInTurns(onBegun: () => void): void {
  start(true, () => {
    isTakingTurns = true
    giveTurn()
    onBegun()
  })
}
/** One step of a run that takes turns. */
export const giveTurn = (): void => post({ type: 'turn' })

/** The run no longer takes turns: it continues alone, unless it is paused. */
export function endTurns(): void {
  const { status } = labStore.getState()
  if (isTakingTurns && (status === 'running' || status === 'preparing')) post({ type: 'resume' })
  isTakingTurns = false
}

/** Drops the run: back to step 0. The same seed starts the same run again. */
export function reset(): void {
  isTakingTurns = false
  forgetSetAside()
  post({ type: 'stop' })
  const { run, adapter } = labStore.getState()
  const experiment = nextExperiment(labStore.getState())
  forgetEdits()
  // A new number, so that what the old run still sends is dropped.
  const status = adapter ? 'idle' : 'loading'
  labStore.setState({ ...emptyRun(), experiment, status, run: run + 1, wrongFields: [] })
  openAdapter()
}

/** Asks for the adapter where the page has none, of another worker where the last one has died. */
export function openAdapter(): void {
  if (!isConnected()) connect()
  else if (!labStore.getState().adapter) post({ type: 'open' })
}
