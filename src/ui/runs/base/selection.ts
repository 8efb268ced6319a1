// Holds which runs are ticked, and what the table shows of all of them.
import { createStore } from 'zustand/vanilla'
import type { BandKind } from '../../../record/compare/statistics.ts'
import { rememberedView, rememberView } from './remembered_view.ts'
import { FIRST_VIEW, type TableView } from './table.ts'

/** Charts with more lines say nothing. */
export const MAX_COMPARED = 8
/** Runs whose columns are read for lines that are means of several. */
export const MAX_AVERAGED = 40

export interface Selection {
  /** In the order in which they were ticked. */
  readonly ticked: readonly string[]
  /** Runs of a group are one line with a band; undefined for a line each. */
  readonly band: BandKind | undefined
  /** They are drawn behind the charts of Learning too, because somebody asked for it;
   * 'same_start': the page did so by itself, for runs of the same task that begin with the same
   * model. */
  readonly isBehind: boolean | 'same_start'
  readonly view: TableView
}

export const selectionStore = createStore<Selection>(() => ({
  ticked: [],
  band: 'range',
  isBehind: false,
  view: { ...FIRST_VIEW, ...rememberedView() },
}))

export function tick(id: string, isOn: boolean): void {
  selectionStore.setState(({ ticked }) => ({
    ticked: isOn
      ? [...ticked.filter((other) => other !== id), id]
      : ticked.filter((other) => other !== id),
  }))
}

/** Draws a run behind the next one, which it is to be compared with. */
export function tickBehind(id: string): void {
  tick(id, true)
  selectionStore.setState(({ isBehind }) => ({ isBehind: isBehind || 'same_start' }))
}

/** Without a tick nothing is left to be drawn behind anything. */
export const tickOnly = (ids: readonly string[]): void =>
  selectionStore.setState(({ isBehind }) => ({
    ticked: ids,
    isBehind: ids.length > 0 && isBehind,
  }))

/** Ticks or unticks several runs; the others stay as they are. */
export const tickAll = (ids: readonly string[], isOn: boolean): void => {
  for (const id of ids) tick(id, isOn)
}

/** Changes what the table shows; columns, groups and filters are there again on the next visit. */
export function setView(change: Partial<TableView>): void {
  selectionStore.setState(({ view }) => ({ view: { ...view, ...change } }))
  rememberView(selectionStore.getState().view)
}
