// Models are kept, trained from and taught by, and what cannot be so is refused.
import { expect, test } from 'vitest'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import { FILES, file, open, read, reader, TOKENIZER_CONFIG } from './testing.ts'

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
