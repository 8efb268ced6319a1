import { afterAll, expect, test, vi } from 'vitest'
import { libraryStore, type RunEntry } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { overlayStore } from '../../shown/overlays.ts'
import { entryOf } from '../table/testing.ts'
import { drawnGroups, followTicks } from './compared.ts'
import { selectionStore } from './selection.ts'

// The task of the other run is none: what follows in this process must not meet it.
afterAll(() => {
  selectionStore.setState(selectionStore.getInitialState(), true)
  libraryStore.setState(libraryStore.getInitialState(), true)
  labStore.setState(labStore.getInitialState(), true)
})

test('a ticked run of another task is not drawn over the charts, and comes back with its task', async () => {
  const own = entryOf('a', { lr: 0.001 })
  const other = entryOf('b', { lr: 0.01 })
  const { experiment } = other.header
  const brackets = { ...experiment, task: { ...experiment.task, id: 'brackets' } } as const
  const foreign: RunEntry = { ...other, header: { ...other.header, experiment: brackets } }
  labStore.setState({ experiment: own.header.experiment, runExperiment: undefined })
  libraryStore.setState({ entries: [own, foreign], isReady: true })
  followTicks()
  const drawn = () => overlayStore.getState().overlays.map(({ id }) => id)
  selectionStore.setState({ ticked: ['a', 'b'], band: undefined })
  // Ticks are for the comparison: the charts of Learning show them when they are asked to.
  await new Promise((resolve) => setTimeout(resolve))
  expect(drawn()).toEqual([])
  selectionStore.setState({ isBehind: true })
  await vi.waitFor(() => expect(drawn()).toEqual(['a']))
  labStore.setState({ experiment: brackets })
  await vi.waitFor(() => expect(drawn()).toEqual(['b']))
})

test('without a tick the run that began last is drawn, unless it is hidden', () => {
  const at = (id: string, started_at: number, hidden = false): RunEntry => {
    const entry = entryOf(id, { lr: 0.001 })
    const { header, labels } = entry
    return { ...entry, header: { ...header, started_at }, labels: { ...labels, hidden } }
  }
  const entries = [at('hidden', 4, true), at('new', 3), at('between', 2), at('old', 1)]
  const drawn = (ticked: readonly string[]) =>
    drawnGroups(entries, { ...selectionStore.getInitialState(), band: undefined, ticked }).flatMap(
      (group) => group.entries.map(({ id }) => id),
    )
  expect(drawn([])).toEqual(['new'])
  expect(drawn(['old', 'between'])).toEqual(['old', 'between'])
})
