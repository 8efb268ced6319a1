// Open models are read, written with and stopped.
import { expect, test } from 'vitest'
import { MOST_READ } from '../../../rl/look/observation.ts'
import { FILES, file, open, read, reader, SETTINGS } from './testing.ts'

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
    {
      place: 'first',
      lens: { tokens: ['c', 'a', 'b'] },
      before: 0,
      changes: undefined,
      parts: undefined,
    },
  ])
  expect(readings[1].readings[0].changes).toEqual({ dH_attn: [1], dH_ffn: [2] })
  expect(readings[1].readings[0].parts?.tokens).toBe(1)
  expect(seen.windows[0]).toEqual({ ids: [4, 2, 3], first: 0, count: 3 })
})

test('of a text that is too long to be shown its end is read, and says how much comes before', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  own.handle(read('ab'.repeat(MOST_READ)))
  await own.idle
  expect(seen.windows[0]).toMatchObject({ first: MOST_READ, count: MOST_READ })
  expect(seen.windows[0].ids).toHaveLength(2 * MOST_READ)
  const [told] = events.filter((event) => event.type === 'model_read')
  expect(told.readings[0].before).toBe(MOST_READ)
})

test('two models read the same text side by side', async () => {
  const { own, events, seen } = reader()
  own.handle(open(FILES))
  own.handle({ ...open(FILES), place: 'second' })
  own.handle(read('a'))
  await own.idle
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

test('it says whether the most tokens ended a text, or the model did', async () => {
  const { own, events } = reader()
  own.handle(open(FILES))
  const asked = { text: 'a', add_special_tokens: true } as const
  for (const max_tokens of [2, 9])
    own.handle({ type: 'write_text', asked, settings: { ...SETTINGS, max_tokens } })
  await own.idle
  const written = events.filter((event) => event.type === 'model_written')
  expect(written.filter(({ is_done }) => is_done).map(({ is_cut }) => is_cut)).toEqual([
    true,
    false,
  ])
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
  const ids = [2, 4, 3, 4, 2, 3, 1]
  expect(seen.windows).toEqual([{ ids, first: 0, count: 5 }])
  // What it says of an answer is of the policies that wrote it, not of the prompt's.
  expect(seen.changed).toEqual([{ ids, first: 2, count: 2 }])
  expect(events.findLast(({ type }) => type === 'model_read')).toMatchObject({
    readings: [{ written: 2 }],
  })
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
