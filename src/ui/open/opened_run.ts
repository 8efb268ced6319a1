// Opens a past run on the whole page, and leads back.
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import {
  type Library,
  libraryStore,
  type RunEntry,
  runOf,
} from '../../page/runs/library/library_store.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { setLayer } from '../shown/cursor.ts'
import { selectLastLayer } from '../shown/run.ts'
import { shownStore, viewStore } from '../shown/shown.ts'
import { openTab, showToast, uiStore } from '../shown/store.ts'

export interface Opened {
  readonly id: string
  /** Kept items that could not be read. */
  readonly unreadable: number
  /** Another tab is at work on it. */
  readonly isElsewhere: boolean
}

/** The past run that the page shows; undefined for the living one. */
export const openedStore = createStore<{ readonly opened: Opened | undefined }>(() => ({
  opened: undefined,
}))

const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened?.id
const selectEntries = ({ entries }: Library) => entries

/** The record of the past run that the page shows; undefined for the living one. */
export function useOpenedEntry(): RunEntry | undefined {
  const id = useStore(openedStore, selectOpened)
  return useStore(libraryStore, selectEntries).find((entry) => entry.id === id)
}

/** Charts redraw on frames, which otherwise only the current run causes. */
export const redraw = (): void => uiStore.setState(({ frame }) => ({ frame: frame + 1 }))

function follow(viewed: ReturnType<typeof viewStore.getState>['viewed'], opened?: Opened): void {
  uiStore.setState({ atStep: undefined, hoverStep: undefined })
  openedStore.setState({ opened })
  viewStore.setState({ viewed, log: opened && runOf(opened.id)?.header.source })
  redraw()
}

/** Back to the current run. */
export function closePast(): void {
  if (openedStore.getState().opened) follow(undefined)
}

/** What reads and deletes runs: the first look at the page needs none of it. */
const library = () => import('../../page/runs/library/library.ts')

const locks = () => import('../../page/runs/storage/locks.ts')

let asked = 0

/** The list of runs shows nothing of the one that was chosen in it. */
function toCurves(): void {
  if (uiStore.getState().tab === 'runs') openTab('learn')
}

/** Shows a run on the whole page: the living one, or a past one to look at. In the list of runs it
 * leads to the run's curves. */
export async function showRun(id: string): Promise<void> {
  const ask = ++asked
  if (id === libraryStore.getState().living) {
    closePast()
    toCurves()
    return
  }
  try {
    const [{ openRun }, { isHeldElsewhere }] = await Promise.all([library(), locks()])
    const { state, unreadable } = await openRun(id)
    // Another one was clicked meanwhile.
    const isElsewhere = await isHeldElsewhere(id)
    if (ask !== asked) return
    follow(state, { id, unreadable, isElsewhere })
    toCurves()
  } catch (error) {
    showToast(error instanceof Error ? error.message : String(error))
  }
}

/** Deletes runs, and says which of them stay and why. */
export async function removeRuns(ids: readonly string[]): Promise<void> {
  const { deleteRuns } = await library()
  const refused = await deleteRuns(ids)
  if (refused !== '') showToast(refused)
}

/** What was hidden or pointed at among the layers of one model means nothing in a model of another
 * depth. */
export function forgetLayers(now: LabState, before: LabState): void {
  if (selectLastLayer(now) === selectLastLayer(before)) return
  setLayer(undefined)
  uiStore.setState(({ hiddenLines }) => ({
    hiddenLines: new Set([...hiddenLines].filter((line) => !line.startsWith('layer/'))),
  }))
}

/** A run that begins is the one to see. */
export function followNewRuns(): void {
  labStore.subscribe((now, before) => {
    if (now.run !== before.run && now.status === 'preparing') closePast()
  })
  shownStore.subscribe(forgetLayers)
  libraryStore.subscribe(({ deleted }) => {
    const { opened } = openedStore.getState()
    if (opened && deleted.includes(opened.id)) closePast()
  })
}
