// Takes a profile: measures what some work encodes and submits.
import type { Dispatcher } from './dispatcher.ts'
import type { OpenDevice } from './open_device.ts'
import { queryMaker, readStamps } from './queries.ts'
import { type Profile, Recording } from './timing/profiler.ts'

/** Resolves with what `work` does and its profile. `finish` waits until the GPU has done
 * everything. Throws where one is being taken. */
export async function takeProfile<T>(
  open: OpenDevice,
  dispatcher: Dispatcher,
  finish: () => Promise<void>,
  work: () => T | Promise<T>,
): Promise<{ readonly result: T; readonly profile: Profile }> {
  if (dispatcher.recording) throw new Error('gpu: a profile is being taken already')
  dispatcher.submit()
  const recording = new Recording(queryMaker(open))
  dispatcher.recording = recording
  try {
    const result = await work()
    await finish()
    return { result, profile: recording.finish(await readStamps(open, recording.queries)) }
  } finally {
    dispatcher.recording = undefined
    recording.destroy()
  }
}
