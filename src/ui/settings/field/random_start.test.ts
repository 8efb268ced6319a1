import { afterEach, expect, test } from 'vitest'
import { OPENING } from '../../../document/presets/presets.ts'
import { editField, keepWrong } from '../../../page/client/edits.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import { randomStart } from './random_start.ts'

afterEach(() => labStore.setState(initialState(), true))

test('another size or other tokens are taken from random weights', () => {
  labStore.setState({ ...initialState(), experiment: OPENING.experiment })
  // No weights make room for a number of layers that nothing can train.
  expect(randomStart('model.num_hidden_layers', 4000)).toBeUndefined()
  expect(editField('model.num_hidden_layers', 4)).toContain('“sorter”')
  for (const path of ['model.num_hidden_layers', 'task.id', 'actor.optim.lr'])
    keepWrong({ path, label: path, text: '', problem: '' })
  randomStart('model.num_hidden_layers', 4)?.()
  expect(labStore.getState().wrongFields.map(({ path }) => path)).toEqual(['actor.optim.lr'])
  const { model, phases } = labStore.getState().experiment
  // Reinforcement alone would have no right answer to begin with.
  expect(phases.map(({ kind }) => kind)).toEqual(['sft', 'rl', 'rl'])
  expect(model).toMatchObject({ num_hidden_layers: 4, source: null, vocab_size: null })
  expect(editField('task.id', 'roman_numerals')).toBeUndefined()
  // Without a model there is nothing in the way.
  expect(randomStart('model.num_hidden_layers', 5)).toBeUndefined()
})
