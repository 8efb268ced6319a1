// Loads the recorded run that comes with the page: its file, and the state that it leaves.
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { Recording } from '../../record/files/recorded.ts'
import { readRecording } from '../../record/files/recording.ts'
import { applyEvent } from '../events/apply.ts'
import { initialState, type LabState } from '../state/store.ts'

/** Recorded with `lab record first-steps`. */
const FILE = 'recordings/first-steps.json'

let loaded: Recording | undefined

/** The recording from the page's own folder. Throws Error where it cannot be loaded or read. */
export async function shippedRecording(): Promise<Recording> {
  if (loaded) return loaded
  const response = await fetch(new URL(FILE, document.baseURI)).catch(() => undefined)
  if (!response) throw new Error('The recording could not be loaded.')
  if (!response.ok) throw new Error(`The recording could not be loaded (${response.status}).`)
  const read = readRecording(await response.text())
  if (!read.ok) throw new Error(read.problem)
  loaded = read.recording
  return loaded
}

/** The number of the run; the page's own begin with 1 as well, and never meet it. */
const RUN = 1

/** The state of a page on which a recorded run has ended. */
export function recordedState({ experiment, adapter, tokens, events }: Recording): LabState {
  const begun: LabState = {
    ...initialState(),
    adapter,
    tokens,
    experiment,
    run: RUN,
    runExperiment: experiment,
    runDocument: experiment,
  }
  const ended = events.reduce(
    (state, { at_ms, event }) => applyEvent(state, { ...event, run: RUN } as LabEvent, at_ms),
    begun,
  )
  return { ...ended, status: 'finished' }
}
