import { expect, test } from 'vitest'
import { labStore } from '../../page/state/store.ts'
import { modelTokenizer, openedDataStore } from './open_data.ts'

test('rows are read with the tokenizer of the model that the next run begins with, and of no other', () => {
  const files = [new File(['{}'], 'tokenizer.json')]
  const { experiment } = labStore.getState()
  const begins = (source: string) =>
    labStore.setState({ experiment: { ...experiment, model: { ...experiment.model, source } } })
  expect(modelTokenizer()).toEqual([])
  openedDataStore.setState({ own: { model: 'sha256-own', files } })
  expect(modelTokenizer()).toEqual([])
  begins('sha256-own')
  expect(modelTokenizer()).toBe(files)
  begins('sha256-other')
  expect(modelTokenizer()).toEqual([])
  labStore.setState({ experiment })
  openedDataStore.setState({ own: undefined })
})
