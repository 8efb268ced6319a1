// Continues runs that were kept: after the page was closed, as a new run, or from a file.
import * as z from 'zod/mini'
import { parseExperiment } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { peekCheckpoint } from '../../../host/checkpoints/file/peek.ts'
import { checkpointBlob, listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { downloadName } from '../../../host/checkpoints/storage/places.ts'
import { settingsOf } from '../../../page/client/links.ts'
import { goOn } from '../../../page/client/starting.ts'
import { readCheckpoint } from '../../../page/runs/checkpoints.ts'
import { lastRun } from '../../../page/runs/library/last_run.ts'
import { openRun } from '../../../page/runs/library/library.ts'
import {
  type Library,
  libraryStore,
  type RunEntry,
} from '../../../page/runs/library/library_store.ts'
import { claimRun } from '../../../page/runs/storage/locks.ts'
import { remembered } from '../../../page/state/remembered.ts'
import { labStore } from '../../../page/state/store.ts'
import { runFileStem } from '../../../record/files/file_names.ts'
import { saveFile } from '../../kit/save.ts'
import { fileTitle } from '../../open/shown_run.ts'
import { selectIsBusy } from '../../shown/run.ts'
import { showToast } from '../../shown/store.ts'
import { type Left, offersStore } from './offers.ts'

const dismissed = remembered('left', z.optional(z.string()), undefined)

/** Says no more about the run that was left. */
export function leaveIt(): void {
  const { left } = offersStore.getState()
  offersStore.setState({ left: undefined })
  if (left) dismissed.set(left.id)
}

/** The run that began last, where its page was closed or crashed while it continued and something
 * of it is kept. */
async function findLeft({ entries }: Library): Promise<Left | undefined> {
  const newest = lastRun(entries)
  if (!newest?.header.was_left || newest.header.status !== 'stopped') return undefined
  if (dismissed.get() === newest.id) return undefined
  const kept = (await listCheckpoints(newest.id)).at(-1)
  const at = newest.header.ended_at ?? kept?.written_at
  return kept && at !== undefined ? { id: newest.id, step: kept.step, at } : undefined
}

/** Offers to continue what was left, once the list of runs is read. To be called once per page. */
export function offerLeft(): void {
  const offer = (library: Library) =>
    findLeft(library).then((left) => offersStore.setState({ left }))
  if (libraryStore.getState().isReady) return void offer(libraryStore.getState())
  const stop = libraryStore.subscribe((library) => {
    if (!library.isReady) return
    stop()
    void offer(library)
  })
}

/** Continues a run of the list, or begins a new one from its checkpoint. */
export async function continueRun(
  kind: 'resume' | 'branch',
  { id, header }: RunEntry,
  step: number,
): Promise<void> {
  if (selectIsBusy(labStore.getState())) {
    showToast('A run is in progress: finish or reset it first.')
    return
  }
  if (kind === 'resume' && !(await claimRun(id))) {
    showToast('This run is in progress in another tab, so it cannot continue here.')
    return
  }
  const { document: experiment, preset_id } = header
  const kept = await openRun(id).then(
    ({ state }) => state.kept,
    () => undefined,
  )
  goOn({ kind, record: id, step }, { experiment, preset_id, ...(kept && { kept }) })
  offersStore.setState({ left: undefined })
}

/** Offers a file, where it says that it is a checkpoint; else says what is wrong with it. */
export async function offerFile(file: File): Promise<readonly string[]> {
  const peeked = await peekCheckpoint(file)
  if (!peeked) return ['It is not a checkpoint of a run.']
  const parsed = parseExperiment(peeked.document)
  if (!parsed.ok) return parsed.issues.map(({ path, message }) => `document.${path}: ${message}`)
  offersStore.setState({ offered: { file, peeked, experiment: parsed.experiment } })
  return []
}

export const declineFile = (): void => offersStore.setState({ offered: undefined })

/** Begins a new run from the file that was offered. */
export async function continueFromFile(): Promise<void> {
  const { offered } = offersStore.getState()
  if (!offered) return
  if (selectIsBusy(labStore.getState())) {
    showToast('A run is in progress: finish or reset it first.')
    return
  }
  declineFile()
  const { file, experiment } = offered
  const bytes = await file.arrayBuffer()
  goOn({ kind: 'file', name: file.name, bytes }, settingsOf(experiment))
}

/** Hands a kept checkpoint to the person; without `step` the newest state of the run in
 * progress. */
export async function download(
  record: string,
  experiment: Experiment,
  step?: number,
): Promise<void> {
  const stem = runFileStem({ name: fileTitle(record, experiment), seed: experiment.seed })
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
