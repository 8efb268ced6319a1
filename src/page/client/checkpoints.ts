// Asks the worker for checkpoints, and reads one as a file.
import { isBusy } from '../../record/run/run_parts.ts'
import { connect, isConnected, onLabEvent, post } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'

/** Has the run that is on keep a checkpoint as soon as it can. */
export function keepCheckpoint(): void {
  if (isBusy(labStore.getState())) post({ type: 'checkpoint' })
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
