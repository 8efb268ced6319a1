// Has an adapter probed that nobody knows yet, when the page has nothing else to do: a Train that
// is pressed at once waits for nothing.
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import { post } from '../connection/connection.ts'
import { isReplaying } from '../state/replay.ts'
import { type LabState, labStore } from '../state/store.ts'

/** The page has had an adapter and no run for so long. */
const REST_MS = 1500

/** Asks for the speed of an adapter that is not known, once for each page. A run that begins first
 * makes the probe needless. */
export function probeAtRest(isKnown: (adapter: AdapterFacts) => boolean): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop = () => {}
  const ask = () => {
    stop()
    post({ type: 'measure' })
  }
  const look = ({ status, adapter }: LabState) => {
    const rests = status === 'idle' && adapter && !isReplaying() && !isKnown(adapter)
    if (rests) timer ??= setTimeout(ask, REST_MS)
    else {
      clearTimeout(timer)
      timer = undefined
    }
  }
  stop = labStore.subscribe(look)
  look(labStore.getState())
}
