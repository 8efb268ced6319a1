import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { selectionStore } from '../base/selection.ts'
import { entryOf } from '../table/testing.ts'
import { Compare } from './Compare.tsx'

afterEach(() => vi.restoreAllMocks())

/** What stands over these runs, all of them ticked. */
function saidOf(runs: readonly ReturnType<typeof entryOf>[]): string {
  const ticked = runs.map(({ id }) => id)
  selectionStore.setState({ ...selectionStore.getInitialState(), ticked, band: 'range' })
  // Static markup shows what a store began with.
  vi.spyOn(selectionStore, 'getInitialState').mockImplementation(selectionStore.getState)
  return renderToStaticMarkup(<Compare entries={runs} />).replaceAll(/<[^>]+>/g, '')
}

test('a seed that was trained again is not left out for want of lines', () => {
  const again = [1, 2, 1].map((seed, i) => entryOf(`r${i}`, { seed }))
  expect(saidOf(again)).toContain('3 runs ticked')
  expect(saidOf(again)).not.toContain('are drawn')
})

test('runs of more settings than there are lines are left out, and that is said', () => {
  const many = Array.from({ length: 9 }, (_, i) => entryOf(`m${i}`, { lr: (i + 1) / 1000 }))
  expect(saidOf(many)).toContain('8 of them are drawn: at most 8 lines can be told apart.')
})
