// Which runs are ticked, and what the table shows of all of them.
import { createStore } from 'zustand/vanilla'
import type { BandKind } from '../../../lab/runs/compare/statistics.ts'
import type { TableView } from './table.ts'

/** Charts with more lines say nothing. */
export const MAX_COMPARED = 8

export interface Selection {
  /** In the order in which they were ticked. */
  readonly ticked: readonly string[]
  /** Runs that differ only in the seed are one line with a band; undefined for a line each. */
  readonly band: BandKind | undefined
  readonly view: TableView
}

export const selectionStore = createStore<Selection>(() => ({
  ticked: [],
  band: undefined,
  view: {
    search: '',
    metric: '',
    statistic: 'last',
    is_smoothed: false,
    with_hidden: false,
    sort: 'started',
    is_descending: true,
  },
}))

export function tick(id: string, is_on: boolean): void {
  selectionStore.setState(({ ticked }) => ({
    ticked: is_on
      ? [...ticked.filter((other) => other !== id), id]
      : ticked.filter((other) => other !== id),
  }))
}

export const tickOnly = (ids: readonly string[]): void => selectionStore.setState({ ticked: ids })

export const setView = (change: Partial<TableView>): void =>
  selectionStore.setState(({ view }) => ({ view: { ...view, ...change } }))
