// A past run on the whole page, and the way back.
import { createStore } from 'zustand/vanilla'
import { openExperiment } from '../../lab/client.ts'
import { libraryStore, openRun, runName, runOf, setNextParent } from '../../lab/runs/library.ts'
import { isHeldElsewhere } from '../../lab/runs/locks.ts'
import { labStore } from '../../lab/store.ts'
import { selectIsBusy } from '../run.ts'
import { viewStore } from '../shown.ts'
import { showToast, uiStore } from '../store.ts'

export interface Opened {
  readonly id: string
  /** Kept items that could not be read. */
  readonly unreadable: number
  /** Another tab is at work on it. */
  readonly is_elsewhere: boolean
}

/** The past run that the page shows; undefined for the living one. */
export const openedStore = createStore<{ readonly opened: Opened | undefined }>(() => ({
  opened: undefined,
}))

/** Charts redraw on frames, which otherwise only the living run causes. */
export const redraw = (): void => uiStore.setState(({ frame }) => ({ frame: frame + 1 }))

function follow(viewed: ReturnType<typeof viewStore.getState>['viewed'], opened?: Opened): void {
  uiStore.setState({ at_step: undefined, hover_step: undefined, from_phase: 1 })
  openedStore.setState({ opened })
  viewStore.setState({ viewed })
  redraw()
}

/** Back to the living run. */
export function closePast(): void {
  if (openedStore.getState().opened) follow(undefined)
}

let asked = 0

/** Shows a run on the whole page: the living one, or a past one to look at. */
export async function showRun(id: string): Promise<void> {
  const ask = ++asked
  if (id === libraryStore.getState().living) {
    closePast()
    return
  }
  try {
    const { state, unreadable } = await openRun(id)
    // Another one was clicked meanwhile.
    const is_elsewhere = await isHeldElsewhere(id)
    if (ask === asked) follow(state, { id, unreadable, is_elsewhere })
  } catch (error) {
    showToast(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Puts the document of a run into the settings, so that Train does it again. What was done to it by hand comes along where no
 * run is on: a run that is over gives way, and stays in the list.
 */
export function takeSettings(id: string): void {
  const entry = runOf(id)
  if (!entry) return
  const { document, preset_id } = entry.header
  const is_busy = selectIsBusy(labStore.getState())
  const { name } = runName(entry, libraryStore.getState().entries)
  const changes = document.steering.length
  const refused = openExperiment(document, `the settings of “${name}”`, preset_id)
  if (refused !== undefined) {
    showToast(refused)
    return
  }
  setNextParent(id)
  const left_out =
    changes > 0 && is_busy
      ? ' What was done to it by hand is left out while a run is on: reset first to take it along.'
      : ''
  showToast(`The settings are those of “${name}”.${left_out}`)
}

/** A run that begins is the one to see. */
export function followNewRuns(): void {
  labStore.subscribe((now, before) => {
    if (now.run !== before.run && now.status === 'preparing') closePast()
  })
  libraryStore.subscribe(({ deleted }) => {
    const { opened } = openedStore.getState()
    if (opened && deleted.includes(opened.id)) closePast()
  })
}
