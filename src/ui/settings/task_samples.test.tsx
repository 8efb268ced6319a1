// Tests what the page says of a task: its problems beside the choice, and its vocabulary where a
// run is on.
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { Pending } from '../notices/Pending.tsx'
import { shownStore, viewStore } from '../shown/shown.ts'
import { useVocabulary } from '../shown/vocabulary.ts'
import { TaskSamples } from './TaskSamples.tsx'

const withTask = (id: string): Experiment => {
  const set = withField(initialState().experiment, 'task.id', id)
  if (!set.ok) throw new Error(set.message)
  return set.experiment
}
const Size = () => useVocabulary().tokens.length

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  vi.spyOn(shownStore, 'getInitialState').mockImplementation(shownStore.getState)
  labStore.setState(initialState(), true)
  viewStore.setState({ viewed: undefined })
})

test('three problems of the chosen task are shown, and what a part of its score means', () => {
  labStore.setState({ experiment: withTask('mini_sudoku') })
  const shown = renderToStaticMarkup(<TaskSamples />)
  expect(shown.match(/<tr><td/g)).toHaveLength(3)
  expect(shown).toMatch(/[1-4]{4}\/[1-4]{4}/)
  expect(shown).toContain('A wrong answer can score in part: the share of the empty cells')
  labStore.setState({ experiment: withTask('letter_counting') })
  expect(renderToStaticMarkup(<TaskSamples />)).not.toContain('in part')
})

test('the vocabulary is that of the run, and before it that of the settings', () => {
  labStore.setState({ experiment: withTask('letter_counting') })
  expect(renderToStaticMarkup(<Size />)).toBe('40')
  labStore.setState({ runExperiment: withTask('sort_digits') })
  expect(renderToStaticMarkup(<Size />)).toBe('26')
  const past = {
    ...initialState(),
    runExperiment: withTask('sort_digits'),
    tokens: ['<pad>', 'a'],
  }
  viewStore.setState({ viewed: past })
  expect(renderToStaticMarkup(<Size />)).toBe('2')
})

test('a task with another vocabulary says that a restart begins with a new model', () => {
  const runExperiment = withTask('sort_digits')
  labStore.setState({ status: 'running', runExperiment, runDocument: runExperiment })
  labStore.setState({ experiment: withTask('reverse_digits') })
  expect(renderToStaticMarkup(<Pending />)).toContain('Restart needed')
  expect(renderToStaticMarkup(<Pending />)).not.toContain('new model')
  labStore.setState({ experiment: withTask('letter_counting') })
  expect(renderToStaticMarkup(<Pending />)).toContain(
    'another vocabulary, 40 tokens instead of 26: a restart begins with a new model',
  )
})
