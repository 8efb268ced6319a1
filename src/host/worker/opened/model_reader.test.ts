import { expect, test } from 'vitest'
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import type { TextWindow } from '../../../model/internals/lens_window.ts'
import { USUAL_LORA } from '../../../model/layout/lora.ts'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import type { ModelEvent } from '../../protocol/opened_model.ts'
import { ModelReader } from './model_reader.ts'

const MODEL = {
  config: { model_type: 'qwen3', num_hidden_layers: 2, hidden_size: 8, vocab_size: 5 },
  layout: { num_parameters: 99 },
  dtype: 'F32',
} as unknown as OpenHfModel

const TOKENIZER = JSON.stringify({
  version: '1.0',
  truncation: null,
  padding: null,
  normalizer: null,
  post_processor: null,
  added_tokens: ['<pad>', '<|im_end|>'].map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  })),
  pre_tokenizer: {
    type: 'Split',
    pattern: { Regex: '[\\s\\S]' },
    behavior: 'Isolated',
    invert: false,
  },
  decoder: { type: 'Fuse' },
  model: {
    type: 'WordLevel',
    unk_token: '<pad>',
    vocab: { '<pad>': 0, '<|im_end|>': 1, a: 2, b: 3, c: 4 },
  },
})
const TOKENIZER_CONFIG = JSON.stringify({
  eos_token: '<|im_end|>',
  pad_token: '<pad>',
  chat_template: '{% for m in messages %}{{ m.content }}{% endfor %}b',
})

/** A reader of a model that says what it was asked and writes c, a, b and an end. */
function reader(disk = memoryDisk().disk) {
  const events: ModelEvent[] = []
  const seen = {
    windows: [] as TextWindow[],
    prompts: [] as (readonly number[])[],
    steered: [] as unknown[],
    vectors: undefined as readonly Float32Array[] | undefined,
    closed: 0,
  }
  const own = new ModelReader({
    check: async (folder) => {
      if (await folder.open('broken')) throw new Error('It is broken.')
      await folder.open('config.json')
      return MODEL
    },
    open: async (_, held, { onProgress, vectors }) => {
      seen.vectors = vectors
      onProgress?.(10, 10)
      return {
        adapter: 'a GPU',
        bytes: 100 + held,
        look: async (window, tokens) => {
          seen.windows.push(window)
          const own = window.ids.slice(window.first, window.first + window.count)
          return { tokens: own.map((id) => tokens[id] ?? `<${id}>`) } as never
        },
        changes: async () => ({ dH_attn: [1], dH_ffn: [2] }),
        parts: async (ids) => ({
          tokens: ids.length - 1,
          untouched: { log_prob: -1, entropies: [] },
          parts: [],
        }),
        direct: async (texts) => {
          seen.steered.push(texts ?? 'none')
          return texts ? [0, 2, 3] : []
        },
        steer: (place) => {
          if (place.layer > 2) throw new RangeError('layer: expected 0 to 2')
          seen.steered.push(place)
        },
        generation: {
          write: async (ids, { max_tokens }, { signal, onTokens }) => {
            seen.prompts.push(ids)
            const all = [4, 2, 3, 1].slice(0, max_tokens)
            const written = all.map((id) => ({ id, log_prob: Math.log(0.5), entropy: 1 }))
            for (const token of written) {
              if (signal?.aborted) break
              onTokens([token])
              await Promise.resolve()
            }
            return written
          },
        },
        close: () => {
          seen.closed++
        },
      }
    },
    plan: async () => ({ model_type: 'qwen3', num_parameters: 99, uses: [] }),
    readAdapter: async () => ({ lora: { ...USUAL_LORA, r: 4 }, factors: {} }),
    disk: async () => disk,
    post: (event) => events.push(event),
    now: () => 0,
  })
  return { own, events, seen }
}

const file = (name: string, text = '') => new File([text], name)
const FILES = [
  file('config.json', '{}'),
  file('tokenizer.json', TOKENIZER),
  file('tokenizer_config.json', TOKENIZER_CONFIG),
]
const open = (files: readonly File[], adapter: readonly File[] = []) => {
  const own = { name: adapter.length > 0 ? 'own' : '', files: adapter }
  return { type: 'open_model', place: 'first', name: 'tiny', files, adapter: own } as const
}
const read = (text: string) =>
  ({
    type: 'read_text',
    add_special_tokens: true,
    text,
    wants_changes: false,
    wants_parts: false,
  }) as const
const SETTINGS = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 9, seed: 1 }

test('a model with vectors of a run is written with, and neither kept, saved nor trained', async () => {
  const { own, events, seen } = reader()
  const vectors = [new Float32Array(8), new Float32Array(8).fill(1)]
  own.handle({ ...open(FILES), vectors })
  await own.idle
  expect(seen.vectors).toBe(vectors)
  expect(events.at(-1)).toMatchObject({ type: 'model_opened', model: { is_steered: true } })
  for (const refused of [
    { type: 'keep_model', place: 'first' },
    { type: 'start_from', has_adapter: false },
    { type: 'save_model' },
    { type: 'add_adapter', adapter: { name: 'own', files: [file('adapter_config.json')] } },
  ] as const) {
    own.handle(refused)
    await own.idle
    expect(events.at(-1)).toMatchObject({
      type: 'model_failed',
      message: expect.stringContaining(
        'tiny has steering vectors, which no file of a model holds.',
      ),
      open: ['first'],
    })
  }
  own.handle(open(FILES))
  await own.idle
  expect(seen.vectors).toBeUndefined()
  expect(events.at(-1)).toMatchObject({ type: 'model_opened', model: { is_steered: false } })
})

test('a model with a tokenizer reads texts, and its files have a hash', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  own.handle(read('cab'))
  own.handle({ ...read('ca'), wants_changes: true, wants_parts: true })
  await own.idle
  const opened = events.find(({ type }) => type === 'model_opened')
  expect(opened).toMatchObject({
    place: 'first',
    model: { name: 'tiny', num_parameters: 99, adapter: '', has_template: true },
  })
  expect(opened).toMatchObject({
    model: { hash: expect.stringMatching(/^sha256-[0-9a-f]{64}$/), is_kept: false },
  })
  const readings = events.filter((event) => event.type === 'model_read')
  expect(readings[0].readings).toEqual([
    { place: 'first', lens: { tokens: ['c', 'a', 'b'] }, changes: undefined, parts: undefined },
  ])
  expect(readings[1].readings[0].changes).toEqual({ dH_attn: [1], dH_ffn: [2] })
  expect(readings[1].readings[0].parts?.tokens).toBe(1)
  expect(seen.windows[0]).toEqual({ ids: [4, 2, 3], first: 0, count: 3 })
})

test('two models read the same text side by side', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  own.handle({ ...open(FILES), place: 'second' })
  own.handle(read('a'))
  own.handle({ type: 'close_model', place: 'second' })
  own.handle(read('a'))
  await own.idle
  const places = events.flatMap((event) =>
    event.type === 'model_read' ? [event.readings.map(({ place }) => place)] : [],
  )
  expect(places).toEqual([['first', 'second'], ['first']])
  expect(events.filter(({ type }) => type === 'model_opened')[1]).toMatchObject({
    model: { gpu_bytes: 200 },
  })
  expect(seen.closed).toBe(1)
})

test('it answers through its template, or continues a text; every token can be looked back at', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  const messages = [{ role: 'user', content: 'ac' }] as const
  own.handle({ type: 'write_text', asked: { messages }, settings: SETTINGS })
  own.handle({ type: 'look_back', at: 1 })
  own.handle({
    type: 'write_text',
    asked: { text: 'a', add_special_tokens: true },
    settings: SETTINGS,
  })
  await own.idle
  expect(seen.prompts).toEqual([[2, 4, 3], [2]])
  const written = events.filter((event) => event.type === 'model_written')
  expect(written[1]).toMatchObject({
    text: 'ca',
    parts: [{ token: 'a', prob: 0.5, entropy: 1 }],
    is_done: false,
  })
  expect(written[4]).toMatchObject({ text: 'cab', parts: [], is_done: true })
  expect(seen.windows).toEqual([{ ids: [2, 4, 3, 4, 2, 3, 1], first: 0, count: 5 }])
})

test('a direction is made in turn and moved at once, also while a text is being written', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  own.handle({ type: 'direct_model', toward: 'ab', away: 'c' })
  await own.idle
  expect(events.at(-1)).toEqual({ type: 'model_directed', sizes: [0, 2, 3] })
  own.handle({
    type: 'write_text',
    asked: { text: 'a', add_special_tokens: true },
    settings: SETTINGS,
  })
  own.handle({ type: 'steer_model', layer: 1, strength: 2 })
  expect(seen.prompts).toEqual([])
  expect(seen.steered).toMatchObject([[[2, 3], [4]], { layer: 1, strength: 2 }])
  await own.idle
  own.handle({ type: 'direct_model', toward: '', away: '' })
  own.handle({ type: 'steer_model', layer: 3, strength: 2 })
  await own.idle
  expect(events.slice(-2)).toMatchObject([
    { type: 'model_failed', message: 'layer: expected 0 to 2' },
    { type: 'model_directed', sizes: [] },
  ])
})

test('a person stops it, and what was written stays', async () => {
  const { own, events } = reader()
  own.handle(open(FILES))
  await own.idle
  own.handle({
    type: 'write_text',
    asked: { text: 'a', add_special_tokens: true },
    settings: SETTINGS,
  })
  await Promise.resolve()
  own.handle({ type: 'cancel_model' })
  await own.idle
  const written = events.filter((event) => event.type === 'model_written')
  expect(written.length).toBeLessThan(5)
  expect(written.at(-1)?.is_done).toBe(true)
})

test('without a tokenizer it reads ids, and says why', async () => {
  const { own, events, seen } = reader()
  own.handle(open([file('config.json')], [file('x')]))
  own.handle(read('3, 4  1'))
  own.handle(read('3 x'))
  const messages = [{ role: 'user', content: 'a' }] as const
  own.handle({ type: 'write_text', asked: { messages }, settings: SETTINGS })
  await own.idle
  expect(events.find(({ type }) => type === 'model_opened')).toMatchObject({
    model: { adapter: 'own', why_ids: 'The folder has no tokenizer.json.' },
  })
  expect(seen.windows[0].ids).toEqual([3, 4, 1])
  expect(events.filter(({ type }) => type === 'model_failed')).toEqual([
    {
      type: 'model_failed',
      open: ['first'],
      message: 'Expected token ids, such as 12 7 3, found "x".',
    },
    expect.objectContaining({ message: expect.stringContaining('no chat template') }),
  ])
})

test('a tokenizer that cannot be followed leaves ids', async () => {
  const { own, events } = reader()
  own.handle(open([file('config.json'), file('tokenizer.json', '{"model": {}}')]))
  await own.idle
  const opened = events.find((event) => event.type === 'model_opened')
  expect(opened?.model.why_ids).toBeDefined()
})

test('a kept model is listed, opened, found to be damaged, and forgotten', async () => {
  const { disk, folders } = memoryDisk()
  const { own, events } = reader(disk)
  own.handle(open(FILES))
  own.handle({ type: 'keep_model', place: 'first' })
  await own.idle
  const lists = () => events.flatMap((event) => (event.type === 'models_kept' ? [event] : []))
  const [{ models }] = lists()
  expect(models).toMatchObject([{ name: 'tiny', source: '' }])
  const [{ folder }] = models
  own.handle({ type: 'open_kept', place: 'first', folder })
  await own.idle
  expect(events.at(-1)).toMatchObject({ type: 'model_opened', model: { is_kept: true } })
  folders.get(folder)?.set('config.json', new Uint8Array(2))
  own.handle({ type: 'open_kept', place: 'first', folder })
  await own.idle
  expect(events.at(-1)).toMatchObject({
    message: expect.stringContaining('are damaged: expected sha256-'),
  })
  own.handle({ type: 'forget_model', folder })
  own.handle({ type: 'open_kept', place: 'first', folder })
  await own.idle
  expect(lists().at(-1)?.models).toEqual([])
  expect(events.at(-1)).toMatchObject({ message: 'This model is no longer kept here.', open: [] })
})

test('what cannot be opened is said, and the one before it is freed', async () => {
  const { own, events, seen } = reader()
  own.handle(read('1'))
  own.handle(open([file('config.json')]))
  own.handle(open([file('broken')]))
  await own.idle
  expect(events.map(({ type }) => type)).toEqual([
    'model_failed',
    'model_progress',
    'model_opened',
    'model_failed',
  ])
  expect(events[0]).toMatchObject({ message: 'There is no model: open its folder first.' })
  expect(events[3]).toMatchObject({ message: 'It is broken.', open: [] })
  expect(seen.closed).toBe(1)
})

test('a model becomes a teacher without being opened, and others of its sizes stay beside it', async () => {
  const { own, events, seen } = reader()
  const other = [
    ...FILES.slice(0, 2),
    file('tokenizer_config.json', `${TOKENIZER_CONFIG.slice(0, -1)}\n}`),
  ]
  const same = [
    ...FILES.slice(0, 2),
    file('tokenizer_config.json', `${TOKENIZER_CONFIG.slice(0, -1)} }`),
  ]
  for (const files of [other, same, other])
    own.handle({ type: 'start_of', of: { name: 'run, step 3', files } })
  await own.idle
  expect(events.filter(({ type }) => type === 'model_failed')).toEqual([])
  const starts = events.flatMap((event) => (event.type === 'model_start' ? event.start : []))
  expect(starts.map(({ name }) => name)).toEqual(['run, step 3', 'run, step 3', 'run, step 3'])
  expect(starts[0].hash).toBe(starts[2].hash)
  expect(starts[0].hash).not.toBe(starts[1].hash)
  expect(starts[0].fields).toMatchObject({
    hidden_size: 8,
    source: starts[0].hash,
    dtype: 'float32',
  })
  const kept = events.findLast((event) => event.type === 'models_kept')
  if (kept?.type !== 'models_kept') throw new Error('nothing was kept')
  expect(new Set(kept.models.map(({ hash }) => hash))).toEqual(
    new Set([starts[0].hash, starts[1].hash]),
  )
  own.handle({ type: 'start_of', of: { folder: kept.models[0].folder } })
  own.handle({ type: 'start_of', of: { folder: 'gone' } })
  await own.idle
  expect(events.at(-1)).toMatchObject({
    type: 'model_failed',
    message: expect.stringMatching(/no longer kept/),
  })
  const again = events.findLast((event) => event.type === 'model_start')
  expect(again).toMatchObject({ start: { hash: kept.models[0].hash } })
  expect(seen).toMatchObject({ windows: [], prompts: [], closed: 0 })
})
