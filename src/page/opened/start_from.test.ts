// Models that become the teacher of the settings, as their files say it.
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { modelHash, modelList } from '../../host/content/models/model_files.ts'
import type { ModelStart } from '../../host/protocol/opened_model.ts'
import { train } from '../client/controls.ts'
import { editField } from '../client/edits.ts'
import { openExperiment } from '../client/opening.ts'
import { models, openPage, port, types, withTestPages } from '../client/testing.ts'
import { contentsStore } from '../contents/here.ts'
import { labStore } from '../state/store.ts'
import { forgetModel, startOf } from './opened_model.ts'
import { learnFrom } from './start_from.ts'

withTestPages()

const LIST = { hash: modelHash([]), name: 'a run, step 6', list: modelList([]) }
const HASH = LIST.hash
const FILE = { name: 'config.json', bytes: 2, sha256: 'sha256-' }
const SIZES = {
  vocab_size: 26,
  hidden_size: 64,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 16,
  intermediate_size: 128,
}
const START: ModelStart = {
  hash: HASH,
  name: LIST.name,
  fields: { ...SIZES, source: HASH, source_name: LIST.name, source_address: '', dtype: 'float32' },
  lists: [LIST],
  tokenizer: {
    'tokenizer.json': readFileSync('public/models/small/tokenizer.json', 'utf8'),
    'tokenizer_config.json': readFileSync('public/models/small/tokenizer_config.json', 'utf8'),
  },
}

function openSettings(document: object): void {
  openPage()
  const parsed = parseExperiment(document)
  if (!parsed.ok) throw new Error(parsed.issues[0].message)
  openExperiment(parsed.experiment, 'these')
}
const settings = () => labStore.getState().experiment

test('a phase of distillation learns from the model, the one beside it not', async () => {
  const distill = { kind: 'distill', target_layer: 2, distillation: { teacher: 'final' } }
  openSettings({ task: { id: 'sort_digits' }, phases: [distill, distill] })
  expect(await learnFrom(START, 'phases.1.distillation.teacher')).toBe(undefined)
  expect(settings().phases).toMatchObject([
    { distillation: { teacher: 'final' } },
    { distillation: { teacher: 'model' } },
  ])
  expect(settings().teacher).toMatchObject({ ...SIZES, source: HASH, source_name: LIST.name })
})

test('a phase of reinforcement asks for it, with the weight that it has already', async () => {
  const task = { id: 'sort_digits' }
  openSettings({ task, phases: [{ kind: 'rl' }] })
  expect(await learnFrom(START, 'algorithm.opd_kl_coef')).toBe(undefined)
  expect(settings().algorithm.opd_kl_coef).toBe(1)
  openSettings({
    task,
    phases: [{ kind: 'rl' }],
    teacher: { ...SIZES, source: HASH },
    algorithm: { opd_kl_coef: 0.25 },
  })
  expect(await learnFrom(START, 'phases.0.algorithm.opd_kl_coef')).toBe(undefined)
  expect(settings().algorithm.opd_kl_coef).toBe(0.25)
  expect(settings().phases[0]).not.toHaveProperty('algorithm.opd_kl_coef')
})

test('another vocabulary is refused, and the settings stay', async () => {
  openSettings({ task: { id: 'sort_digits' }, phases: [{ kind: 'rl' }] })
  const before = settings()
  const json = START.tokenizer['tokenizer.json'].replaceAll('"7"', '"x"')
  const other = { ...START, tokenizer: { ...START.tokenizer, 'tokenizer.json': json } }
  expect(await learnFrom(other, 'algorithm.opd_kl_coef')).toMatch(/has another tokenizer/)
  expect(settings()).toBe(before)
})

test('a teacher that is forgotten in the browser is asked for at once', async () => {
  models.add(HASH)
  openSettings({ task: { id: 'sort_digits' }, phases: [{ kind: 'rl' }] })
  expect(await learnFrom(START, 'algorithm.opd_kl_coef')).toBe(undefined)
  await vi.waitFor(() => expect(contentsStore.getState().status).toBe('here'))
  forgetModel('model-7')
  models.delete(HASH)
  port().says({ type: 'models_kept', models: [], can_keep: true })
  await vi.waitFor(() => expect(contentsStore.getState().status).toBe('missing'))
  expect(contentsStore.getState().missing).toEqual([{ hash: HASH, name: LIST.name }])
})

test('the worker answers what a teacher says, or why there is none', async () => {
  openPage()
  const asked = startOf({ folder: 'model-7' })
  port().says({ type: 'model_start', start: START })
  expect(await asked).toBe(START)
  const refused = startOf({ folder: 'gone' })
  port().says({ type: 'model_failed', message: 'It is no longer kept here.', open: [] })
  await expect(refused).rejects.toThrow('no longer kept')
})

test('while a run is on its weight changes live, and another teacher waits for the next run', async () => {
  models.add(HASH)
  openSettings({ task: { id: 'sort_digits' }, phases: [{ kind: 'rl' }] })
  expect(await learnFrom(START, 'algorithm.opd_kl_coef')).toBe(undefined)
  await vi.waitFor(() => expect(contentsStore.getState().status).toBe('here'))
  train()
  await vi.waitFor(() => expect(types()).toContain('start'))
  expect(editField('algorithm.opd_kl_coef', 0.5)).toBe(undefined)
  const action = { kind: 'set', path: 'algorithm.opd_kl_coef', value: 0.5 }
  await vi.waitFor(() =>
    expect(port().commands.findLast(({ type }) => type === 'steer')).toMatchObject({ action }),
  )
  const before = port().commands.length
  const other = { hash: modelHash([FILE]), name: 'another', list: modelList([FILE]) }
  const start = { ...START, fields: { ...START.fields, source: other.hash }, lists: [other] }
  expect(await learnFrom(start, 'algorithm.opd_kl_coef')).toBe(undefined)
  expect(settings().teacher.source).toBe(other.hash)
  expect(labStore.getState().runExperiment?.teacher.source).toBe(HASH)
  expect(
    port()
      .commands.slice(before)
      .map(({ type }) => type),
  ).not.toContain('steer')
})
