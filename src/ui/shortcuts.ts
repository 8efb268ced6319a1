// Keys that act on the run. Left alone while someone types, and with a switch to turn them off.
import { nextPhase, reset, stepOnce } from '../lab/client.ts'
import { labStore } from '../lab/store.ts'
import { canNextPhase, canReset, canStep, canToggle, toggleTraining } from './actions.ts'
import { canScrub, scrubKept } from './scrub.ts'
import { uiStore } from './store.ts'

export const SHORTCUTS = [
  { key: 'Space', does: 'train, pause, go on' },
  { key: 'S', does: 'one step, then pause' },
  { key: 'N', does: 'end this phase, begin the next' },
  { key: 'R', does: 'reset' },
  { key: '[ ]', does: 'the kept step before or after; End on the slider follows again' },
  { key: '1 2', does: 'the first or second response is better (0 skips, Z takes back)' },
  { key: 'J K', does: 'the next or the previous response, in Tokens' },
  { key: '?', does: 'this list' },
] as const

/** Someone is typing, or in a dialog. */
export const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, select, textarea, dialog') !== null)

/** Listens to the page's keys until the returned function is called. */
export function listenToKeys(showHelp: () => void): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (!uiStore.getState().shortcuts_on || event.defaultPrevented || event.repeat) return
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return
    const state = labStore.getState()
    const key = event.key.toLowerCase()
    // A focused button or fold keeps its own Space.
    if (key === ' ' && event.target instanceof Element && event.target.closest('button, summary'))
      return
    if (key === ' ' && canToggle(state)) toggleTraining()
    else if (key === 's' && canStep(state)) stepOnce()
    else if (key === 'n' && canNextPhase(state)) nextPhase()
    else if (key === 'r' && canReset(state)) reset()
    else if (key === '?') showHelp()
    else if ((key === '[' || key === ']') && canScrub()) scrubKept(key === '[' ? -1 : 1)
    else if (key !== ' ') return
    event.preventDefault()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}
