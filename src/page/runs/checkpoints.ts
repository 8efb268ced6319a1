// Asks the worker for checkpoints, and reads one as a file.
import { isBusy } from '../../record/run/run_parts.ts'
import { connect, isConnected, onLabEvent, post } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'

/** Has the run that is on keep a checkpoint as soon as it can. */
export function keepCheckpoint(): void {
  if (isBusy(labStore.getState())) post({ type: 'checkpoint' })
}

/** Milliseconds in which a step ends on a slow adapter. */
const PATIENCE_MS = 60_000

/** While the run trains, keeps its state once the step in flight is done. Resolves in any case: at
 * rest a run is kept by itself, and where it cannot be, what was kept before is all that there
 * is. */
export function keepNow(): Promise<void> {
  const { run, status } = labStore.getState()
  if (status !== 'running') return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    const stop = onLabEvent((event) => {
      const isAnswer = /^(checkpoint|checkpoint_problem|failed)$/.test(event.type)
      if (isAnswer && 'run' in event && event.run === run) end()
    })
    const timer = setTimeout(end, PATIENCE_MS)
    keepCheckpoint()
  })
}

/** A checkpoint that the worker has, as a file; without `step` the newest state. Rejects with a
 * sentence for people. */
export function readCheckpoint(
  record: string,
  step?: number,
): Promise<{ readonly step: number; readonly bytes: ArrayBuffer }> {
  return new Promise((resolve, reject) => {
    const stop = onLabEvent((event) => {
      if (event.type === 'checkpoint_file' && event.record === record) resolve(event)
      else if (event.type === 'checkpoint_file_failed' && event.record === record)
        reject(new RangeError(event.message))
      else return
      stop()
    })
    if (!isConnected()) connect()
    post({ type: 'read_checkpoint', record, ...(step !== undefined && { step }) })
  })
}
