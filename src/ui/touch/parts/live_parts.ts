// Keeps whether running runs are asked what each part does, after validations and within their
// share of the work.
import { createStore } from 'zustand/vanilla'
import { wantObserved } from '../../../page/client/observing.ts'

export const livePartsStore = createStore<{ readonly isOn: boolean }>(() => ({ isOn: false }))

let stop: (() => void) | undefined

/** For this visit, whatever part of the page is open. */
export function askLiveParts(isOn: boolean): void {
  stop?.()
  stop = isOn ? wantObserved('live parts', { parts: true }) : undefined
  livePartsStore.setState({ isOn })
}
