import { expect, test } from 'vitest'
import type { ModelReading } from '../../host/protocol/opened_model.ts'
import { openPage, port, withTestPages } from '../client/testing.ts'
import { closeModel, openedModelStore, openModel, readText, writeText } from './opened_model.ts'

withTestPages()

const SETTINGS = { temperature: 1, top_p: 1, top_k: 0, max_tokens: 4, seed: 1 }
const readings = [{ place: 'first' }] as unknown as readonly ModelReading[]

test('what was read stays while the model continues a text, and the text that it continues is kept', () => {
  openPage()
  readText('12+7=', true, { changes: false, parts: false })
  port().says({ type: 'model_read', text: '12+7=', readings })
  writeText({ text: '3+4=', add_special_tokens: true }, SETTINGS)
  const { read, written } = openedModelStore.getState()
  expect(read?.text).toBe('12+7=')
  expect(written).toMatchObject({ asked: { text: '3+4=' }, text: '', is_done: false })
  port().says({ type: 'model_written', text: '7', parts: [], is_done: true })
  expect(openedModelStore.getState()).toMatchObject({
    read: { text: '12+7=' },
    written: { asked: { text: '3+4=' }, text: '7', is_done: true },
  })
  closeModel()
})

test('a text that the model refuses is no answer; what was written before it ended stays', () => {
  openPage()
  writeText({ text: 'hello', add_special_tokens: true }, SETTINGS)
  port().says({ type: 'model_failed', message: 'It has no "h".', open: ['first'] })
  expect(openedModelStore.getState()).toMatchObject({
    written: undefined,
    problem: 'It has no "h".',
    isBusy: false,
  })
  writeText({ text: '3+4=', add_special_tokens: true }, SETTINGS)
  const parts = [{ token: '7', prob: 1, entropy: 0 }]
  port().says({ type: 'model_written', text: '7', parts, is_done: false })
  port().says({ type: 'model_failed', message: 'It was ended.', open: ['first'] })
  expect(openedModelStore.getState().written).toMatchObject({ text: '7', is_done: true })
  closeModel()
})

test('a folder that could not be opened leaves its name nowhere', () => {
  openPage()
  openModel('wrong', [])
  expect(openedModelStore.getState()).toMatchObject({ name: 'wrong', isBusy: true })
  port().says({ type: 'model_failed', message: 'It has no weights.', open: [] })
  expect(openedModelStore.getState()).toMatchObject({ name: '', problem: 'It has no weights.' })
  closeModel()
})
