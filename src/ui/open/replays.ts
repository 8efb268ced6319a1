// Leads from the page to a recorded run and back. The file comes from the page's own folder.
import { createStore } from 'zustand/vanilla'
import { train } from '../../page/client/controls.ts'
import { openInstead } from '../../page/client/lab.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { labStore } from '../../page/state/store.ts'

interface Loading {
  readonly isLoading: boolean
  /** Why the last try came to nothing; '' where it did not. */
  readonly problem: string
}

export const loadingStore = createStore<Loading>(() => ({ isLoading: false, problem: '' }))

export const selectIsReplaying = ({ recording }: ReplayState): boolean => recording !== undefined

let goBack: () => void = () => {}

/** Loads the recorded run and plays it from its beginning. */
export async function watchRecording(): Promise<void> {
  if (loadingStore.getState().isLoading || replayStore.getState().recording) return
  loadingStore.setState({ isLoading: true, problem: '' })
  const problem = await open()
  loadingStore.setState({ isLoading: false, problem: problem ?? '' })
}

/** Why it cannot be played, if so. */
async function open(): Promise<string | undefined> {
  try {
    // The reader and the player are loaded with the recording: most visitors need neither.
    const [{ shippedRecording }, { replayPort }] = await Promise.all([
      import('../../page/connection/shipped_recording.ts'),
      import('../../page/connection/replay_port.ts'),
    ])
    const recording = await shippedRecording()
    const { adapter: own } = labStore.getState()
    goBack = openInstead(() => replayPort(recording), recording.experiment)
    replayStore.setState({ recording, own })
    train()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'The recording could not be loaded.'
  }
}

/** Back to the page as it was. */
export function leaveRecording(): void {
  replayStore.setState({ recording: undefined })
  goBack()
}
