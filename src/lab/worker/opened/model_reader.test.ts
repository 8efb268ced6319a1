import { expect, test } from 'vitest'
import type { HfModel } from '../../../model/hf/hf_model.ts'
import type { ModelEvent } from '../../protocol/opened_model.ts'
import { ModelReader } from './model_reader.ts'

const MODEL = {
  config: { model_type: 'qwen3', num_hidden_layers: 2, hidden_size: 8, vocab_size: 5 },
  layout: { num_parameters: 99 },
  dtype: 'F32',
} as unknown as HfModel

const TOKENIZER = JSON.stringify({
  ...{ version: '1.0', truncation: null, padding: null, normalizer: null, post_processor: null },
  added_tokens: ['<pad>', '<|im_end|>'].map((content, id) => ({
    ...{ id, content, special: true },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  })),
  pre_tokenizer: {
    ...{ type: 'Split', pattern: { Regex: '[\\s\\S]' }, behavior: 'Isolated', invert: false },
  },
  decoder: { type: 'Fuse' },
  model: {
    ...{ type: 'WordLevel', unk_token: '<pad>' },
    vocab: { '<pad>': 0, '<|im_end|>': 1, a: 2, b: 3, c: 4 },
  },
})
const TOKENIZER_CONFIG = JSON.stringify({ eos_token: '<|im_end|>', pad_token: '<pad>' })

/** A reader of a model that says what it was asked. */
function reader() {
  const events: ModelEvent[] = []
  const seen: { ids: readonly number[][]; closed: number } = { ids: [], closed: 0 }
  const own = new ModelReader({
    read: async (files) => {
      if (files.some(({ name }) => name === 'broken')) throw new Error('It is broken.')
      return MODEL
    },
    open: async () => ({
      adapter: 'a GPU',
      look: async (ids, tokens) => {
        seen.ids = [...seen.ids, [...ids]]
        return { tokens: ids.map((id) => tokens[id] ?? `<${id}>`) } as never
      },
      close: () => {
        seen.closed++
      },
    }),
    post: (event) => events.push(event),
  })
  return { own, events, seen }
}

const file = (name: string, text = '') => new File([text], name)

test('a model with a tokenizer reads texts', async () => {
  const { own, events, seen } = reader()
  const files = [
    file('config.json'),
    file('tokenizer.json', TOKENIZER),
    file('tokenizer_config.json', TOKENIZER_CONFIG),
  ]
  own.handle({ type: 'open_model', files, adapter: [] })
  own.handle({ type: 'read_text', text: 'cab' })
  await own.idle
  expect(events[0]).toMatchObject({
    type: 'model_opened',
    model: { model_type: 'qwen3', num_parameters: 99, has_adapter: false, why_ids: undefined },
  })
  expect(events[1]).toMatchObject({ type: 'model_read', lens: { tokens: ['c', 'a', 'b'] } })
  expect(seen.ids).toEqual([[4, 2, 3]])
})

test('without a tokenizer it reads ids, and says why', async () => {
  const { own, events, seen } = reader()
  own.handle({ type: 'open_model', files: [file('config.json')], adapter: [file('x')] })
  own.handle({ type: 'read_text', text: '3, 4  1' })
  own.handle({ type: 'read_text', text: '3 x' })
  await own.idle
  expect(events[0]).toMatchObject({
    model: { has_adapter: true, why_ids: 'The folder has no tokenizer.json.' },
  })
  expect(seen.ids).toEqual([[3, 4, 1]])
  expect(events[2]).toEqual({
    ...{ type: 'model_failed', is_open: true },
    message: 'Expected token ids, such as 12 7 3, found "x".',
  })
})

test('a tokenizer that cannot be followed leaves ids', async () => {
  const { own, events } = reader()
  const files = [file('config.json'), file('tokenizer.json', '{"model": {}}')]
  own.handle({ type: 'open_model', files, adapter: [] })
  await own.idle
  expect(events[0]).toMatchObject({ type: 'model_opened' })
  expect(events[0]).not.toMatchObject({ model: { why_ids: undefined } })
})

test('what cannot be opened is said, and the one before it is freed', async () => {
  const { own, events, seen } = reader()
  own.handle({ type: 'read_text', text: '1' })
  own.handle({ type: 'open_model', files: [file('config.json')], adapter: [] })
  own.handle({ type: 'open_model', files: [file('broken')], adapter: [] })
  await own.idle
  expect(events.map(({ type }) => type)).toEqual(['model_failed', 'model_opened', 'model_failed'])
  expect(events[0]).toMatchObject({ message: 'There is no model: open its folder first.' })
  expect(events[2]).toMatchObject({ message: 'It is broken.', is_open: false })
  expect(seen.closed).toBe(1)
})
