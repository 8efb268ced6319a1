// Going on with runs that were kept: after the page was closed, as a run of its own, or from a file.
import { createStore } from 'zustand/vanilla'
import { checkpointBlob, listCheckpoints } from '../../../lab/checkpoints/browse.ts'
import { type Peeked, peekCheckpoint } from '../../../lab/checkpoints/peek.ts'
import { downloadName } from '../../../lab/checkpoints/places.ts'
import { type Experiment, parseExperiment } from '../../../lab/experiment/experiment.ts'
import { readCheckpoint } from '../../../lab/page/client/checkpoints.ts'
import { settingsOf } from '../../../lab/page/client/links.ts'
import { goOn } from '../../../lab/page/client/starting.ts'
import { labStore } from '../../../lab/page/store.ts'
import { lastRun } from '../../../lab/runs/last_run.ts'
import { type Library, libraryStore, openRun, type RunEntry } from '../../../lab/runs/library.ts'
import { claimRun } from '../../../lab/runs/locks.ts'
import { runFileStem } from '../../../lab/runs/metrics_file.ts'
import { selectIsBusy } from '../../base/run.ts'
import { saveFile } from '../../base/save.ts'
import { showToast } from '../../base/store.ts'

/** A run that its page left unfinished, and the newest of its checkpoints. */
export interface Left {
  readonly id: string
  readonly step: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A file that a person opened. */
export interface Offered {
  readonly file: File
  readonly peeked: Peeked
  readonly experiment: Experiment
}

export const goingOnStore = createStore<{
  readonly left: Left | undefined
  readonly offered: Offered | undefined
}>(() => ({ left: undefined, offered: undefined }))

const DISMISSED_KEY = 'understory.left'

function isDismissed(id: string): boolean {
  try {
    return localStorage.getItem(DISMISSED_KEY) === id
  } catch {
    return false
  }
}

/** Says no more about the run that was left. */
export function leaveIt(): void {
  const { left } = goingOnStore.getState()
  goingOnStore.setState({ left: undefined })
  try {
    if (left) localStorage.setItem(DISMISSED_KEY, left.id)
  } catch {
    // Storage is off: it is offered again by the next page.
  }
}

/** The run that began last, where its page was closed or crashed while it continued and something of it is kept. */
async function findLeft({ entries }: Library): Promise<Left | undefined> {
  const newest = lastRun(entries)
  if (!newest?.header.was_left || newest.header.status !== 'stopped') return undefined
  if (isDismissed(newest.id)) return undefined
  const kept = (await listCheckpoints(newest.id)).at(-1)
  const at = newest.header.ended_at ?? kept?.written_at
  return kept && at !== undefined ? { id: newest.id, step: kept.step, at } : undefined
}

/** Offers to go on with what was left, once the list of runs is read. To be called once per page. */
export function offerLeft(): void {
  const stop = libraryStore.subscribe((library) => {
    if (!library.is_ready) return
    stop()
    void findLeft(library).then((left) => goingOnStore.setState({ left }))
  })
}

/** Goes on with a run of the list, or begins one of its own there. */
export async function goOnWith(
  kind: 'resume' | 'branch',
  { id, header }: RunEntry,
  step: number,
): Promise<void> {
  if (selectIsBusy(labStore.getState())) {
    showToast('A run is on: finish or reset it first.')
    return
  }
  if (kind === 'resume' && !(await claimRun(id))) {
    showToast('This run goes on in another tab, so it cannot go on here.')
    return
  }
  const { document: experiment, preset_id } = header
  const kept = await openRun(id).then(
    ({ state }) => state.kept,
    () => undefined,
  )
  goOn({ kind, record: id, step }, { experiment, preset_id, ...(kept && { kept }) })
  goingOnStore.setState({ left: undefined })
}

/** Offers a file, where it says that it is a checkpoint; else says what is wrong with it. */
export async function offerFile(file: File): Promise<readonly string[]> {
  const peeked = await peekCheckpoint(file)
  if (!peeked) return ['It is no checkpoint of a run.']
  const parsed = parseExperiment(peeked.document)
  if (!parsed.ok) return parsed.issues.map(({ path, message }) => `document.${path}: ${message}`)
  goingOnStore.setState({ offered: { file, peeked, experiment: parsed.experiment } })
  return []
}

export const declineFile = (): void => goingOnStore.setState({ offered: undefined })

/** Begins a run of its own with the file that was offered. */
export async function goOnWithFile(): Promise<void> {
  const { offered } = goingOnStore.getState()
  if (!offered) return
  if (selectIsBusy(labStore.getState())) {
    showToast('A run is on: finish or reset it first.')
    return
  }
  declineFile()
  const { file, experiment } = offered
  const bytes = await file.arrayBuffer()
  goOn({ kind: 'file', name: file.name, bytes }, settingsOf(experiment))
}

/** Hands a kept checkpoint to the person; without `step` the newest state of the run that is on. */
export async function download(
  record: string,
  experiment: Experiment,
  step?: number,
): Promise<void> {
  const stem = runFileStem(experiment)
  const blob = step === undefined ? undefined : await checkpointBlob(record, step)
  if (blob && step !== undefined) {
    saveFile(downloadName(stem, step), blob)
    return
  }
  try {
    const read = await readCheckpoint(record, step)
    saveFile(downloadName(stem, read.step), new Blob([read.bytes]))
  } catch (error) {
    showToast(error instanceof Error ? error.message : String(error))
  }
}
