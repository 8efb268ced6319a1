// A field without a value is null in a document, however verl or an earlier version wrote it.
import { expect, test } from 'vitest'
import type { FieldValue } from '../../rl/fields/field.ts'
import { decodeLink, encodeLink } from '../links/link.ts'
import { fingerprintOf } from '../study/fingerprint.ts'
import { parseExperiment, steerExperiment } from './experiment.ts'
import { valueAt } from './fields/paths.ts'
import { resolvePhases } from './resolve.ts'
import { type DocumentField, documentFields } from './schema/document_fields.ts'
import { NONE, valueToSet } from './steering/actions.ts'
import { edited, parsed } from './testing.ts'

test('what verl writes as null may be written so, and reaches the engine as null', () => {
  const nulls = {
    actor: { loss_scale_factor: null, ppo_micro_batch_size_per_gpu: null },
    algorithm: {
      overlong_buffer: null,
      rollout_correction: { rollout_is: null, rollout_rs: null, rollout_rs_threshold: null },
    },
  }
  expect(parsed(nulls)).toEqual(parsed({}))
  const set = parsed({
    actor: { loss_scale_factor: 7, ppo_micro_batch_size_per_gpu: 32 },
    algorithm: {
      overlong_buffer: { len: 2 },
      rollout_correction: {
        rollout_is: 'token',
        rollout_rs: 'token_k1',
        rollout_rs_threshold: 2.5,
      },
    },
    phases: [
      { kind: 'rl', ...nulls },
      { kind: 'rl', actor: { policy_loss: { ppo_kl_coef: 3 } } },
    ],
  })
  expect(parsed(JSON.parse(JSON.stringify(set)))).toEqual(set)
  const [own, shared] = resolvePhases(set)
  expect(own).toMatchObject({
    actor: nulls.actor,
    algorithm: {
      overlong_buffer: { len: null },
      rollout_correction: { ...nulls.algorithm.rollout_correction, rollout_is_threshold: 2 },
    },
  })
  expect(shared).toMatchObject({
    actor: {
      loss_scale_factor: 7,
      ppo_micro_batch_size_per_gpu: 32,
      policy_loss: { ppo_kl_coef: 3, clip_cov_ratio: 0.0002 },
    },
    algorithm: {
      overlong_buffer: { len: 2, penalty_factor: 1 },
      rollout_correction: { rollout_is: 'token', rollout_rs_threshold: '2.5' },
    },
  })
  for (const section of ['model', 'rollout', 'critic', 'algorithm'])
    expect(parseExperiment({ [section]: null }).ok, section).toBe(false)
})

test('documents that wrote no value as 0, off or an empty text are read as null, in phases and steering too', () => {
  const old = {
    actor: { loss_scale_factor: 0, ppo_micro_batch_size_per_gpu: 0 },
    critic: { ppo_mini_batch_size: 0, ppo_epochs: 0 },
    algorithm: {
      overlong_buffer: { len: 0 },
      rollout_correction: {
        rollout_is: 'off',
        rollout_is_threshold_lower: 0,
        rollout_rs: ' ',
        rollout_rs_threshold: '',
      },
    },
  }
  const now = parsed({
    actor: { loss_scale_factor: null, ppo_micro_batch_size_per_gpu: null },
    critic: { ppo_mini_batch_size: null, ppo_epochs: null },
    algorithm: {
      overlong_buffer: { len: null },
      rollout_correction: {
        rollout_is: null,
        rollout_is_threshold_lower: null,
        rollout_rs: null,
        rollout_rs_threshold: null,
      },
    },
  })
  expect(parsed(old)).toEqual(now)
  expect(parsed({})).toEqual(now)
  const [phase] = parsed({ phases: [{ kind: 'rl', ...old }] }).phases
  expect(phase).toMatchObject({ critic: { ppo_epochs: null }, actor: { loss_scale_factor: null } })
  const shared = parsed({
    actor: { loss_scale_factor: 7 },
    phases: [{ kind: 'rl', actor: { loss_scale_factor: 0 } }],
  })
  expect(resolvePhases(shared)[0]).toMatchObject({ actor: { loss_scale_factor: null } })
  expect(edited(shared, 'actor.loss_scale_factor', 0).actor.loss_scale_factor).toBeNull()
})

test('links say null, and what links said before is read', () => {
  const paths = [
    'actor.loss_scale_factor',
    'actor.ppo_micro_batch_size_per_gpu',
    'critic.ppo_epochs',
    'critic.ppo_mini_batch_size',
    'algorithm.overlong_buffer.len',
    'algorithm.rollout_correction.rollout_is_threshold_lower',
  ]
  const none = parsed({})
  const start = encodeLink(none)
  for (const path of paths)
    for (const word of ['0', 'null'])
      expect(decodeLink(`${start}&${path}=${word}`), `${path}=${word}`).toMatchObject({
        experiment: none,
        notices: [],
      })
  for (const [name, old] of [
    ['rollout_is', 'off'],
    ['rollout_rs', ''],
    ['rollout_rs_threshold', ''],
  ])
    for (const word of [old, 'null'])
      expect(decodeLink(`${start}&algorithm.rollout_correction.${name}=${word}`)).toMatchObject({
        experiment: none,
        notices: [],
      })
  const own = parsed({
    actor: { loss_scale_factor: 7 },
    phases: [{ kind: 'rl', actor: { loss_scale_factor: null } }],
  })
  expect(encodeLink(own)).toContain('phases.0.actor.loss_scale_factor=null')
  expect(decodeLink(encodeLink(own)).experiment).toEqual(own)
})

/** What documents said before, and what a link says today. */
const BEFORE: readonly (readonly [path: string, old: string | number])[] = [
  ['name', ''],
  ['kernels', ''],
  ['data.train_max_samples', -1],
  ['data.curriculum.param', ''],
  ['data.curriculum.start', -1],
  ['model.padding_idx', -1],
  ['model.vocab_size', 0],
  ['model.source', ''],
  ['model.source_name', ''],
  ['model.source_address', ''],
  ['model.lora.layers_to_transform', ''],
  ['model.lora.source', ''],
  ['model.lora.source_name', ''],
  ['rollout.top_k', -1],
  ['actor.optim.lr_warmup_steps', -1],
  ['critic.optim.lr_warmup_steps', -1],
  ['validation.test_freq', 0],
  ['validation.temperature', 0],
  ['probe.freq', 0],
  ['phases.0.name', ''],
  ['phases.0.epochs', 0],
  ['phases.0.optim.lr_warmup_steps', -1],
  ['phases.0.stop.accuracy', 0],
  ['phases.1.pairs.verdicts', ''],
  ['phases.2.refresh_steps', 0],
  ['phases.3.epochs', 0],
  ['phases.3.freeze.layers', ''],
  ['phases.3.stop.accuracy', 0],
  ['phases.3.stop.score', 0],
  ['phases.3.stop.plateau_steps', 0],
  ['phases.3.stop.entropy_floor', 0],
  ['phases.3.rollout.top_k', -1],
]
const ALL_KINDS = parsed({
  phases: [{ kind: 'sft' }, { kind: 'reward_model' }, { kind: 'preference' }, { kind: 'rl' }],
})

test.each(BEFORE)('%s without a value is null, and %s is read so', (path, old) => {
  expect(valueAt(edited(ALL_KINDS, path, old), path)).toBeNull()
  const none = edited(ALL_KINDS, path, null)
  expect(valueAt(none, path)).toBeNull()
  expect(decodeLink(encodeLink(none))).toMatchObject({ experiment: none, notices: [] })
  // The preset that a link begins with has a name of its own.
  const start = encodeLink(ALL_KINDS).replace(/&name=(?=&|$)/, '')
  const named = path === 'name' ? '' : '&name='
  const linked = decodeLink(`${start}${named}&${path}=${old}`)
  expect(linked).toMatchObject({ experiment: none, notices: [] })
})

test('verl’s 0 for the rank of no adapter and counts of nothing stay 0', () => {
  expect(
    parsed({ model: { lora: { r: 0 } }, validation: { n: 0, log_val_generations: 0 } }),
  ).toEqual(parsed({ validation: { n: 0, log_val_generations: 0 } }))
  expect(parsed({}).model.lora.r).toBe(0)
  expect(parseExperiment({ model: { lora: { r: null } } }).ok).toBe(false)
})

/** Fields of the rows of a data set, with what they may be, and what documents said before. */
const ROWS: readonly (readonly [name: string, usual: string | null, old: string])[] = [
  ['data', null, ''],
  ['name', null, ''],
  ['val_data', null, ''],
  ['val_name', null, ''],
  ['prompt_key', 'prompt', ''],
  ['input_key', null, ''],
  ['system_key', null, ''],
  ['answer_key', 'reward_model.ground_truth', ''],
  ['chosen_key', null, ''],
  ['rejected_key', null, ''],
  ['label_key', null, ''],
  ['reward_fn_key', 'data_source', ''],
  ['answers', 'text', 'none'],
  ['tokenizer_data', null, ''],
  ['tokenizer_name', null, ''],
]
const PROGRAM = { id: 'program', code: `sha256-${'3'.repeat(64)}`, name: 'a.py' }
const onRows = (fields: Readonly<Record<string, unknown>>) =>
  parsed({
    task: { id: 'dataset', ...fields },
    reward: { parts: [PROGRAM] },
    phases: [{ kind: 'rl' }],
  })

test.each(ROWS)('rows without %s say null, and are read as before', (name, usual, old) => {
  expect(onRows({}).task[name]).toBe(usual)
  const none = onRows({ [name]: null })
  expect(none.task[name]).toBeNull()
  expect(onRows({ [name]: old })).toEqual(none)
  expect(decodeLink(encodeLink(none))).toMatchObject({ experiment: none, notices: [] })
  const start = encodeLink(none).replace(new RegExp(`&task\\.${name}=[^&]*`), '')
  const linked = decodeLink(`${start}&task.${name}=${old}`)
  expect(linked).toMatchObject({ experiment: none, notices: [] })
})

test('a study of rows keeps the fingerprint that its kept runs have', () => {
  // What the lab computed when it wrote empty texts.
  expect(fingerprintOf(onRows({}))).toBe('u2z1y9w8tw')
  expect(fingerprintOf(onRows({ answers: null, prompt_key: null }))).toBe('1rsbq29vapt')
})

test('a column may be called null', () => {
  const called = onRows({ input_key: 'null' })
  expect(called.task.input_key).toBe('null')
  expect(decodeLink(encodeLink(called)).experiment).toEqual(called)
})

test('a name may be the word null', () => {
  const called = edited(ALL_KINDS, 'name', 'null')
  expect(called.name).toBe('null')
  expect(decodeLink(encodeLink(called)).experiment).toEqual(called)
})

test('in a run a field loses its value by none, and null brings its default back', () => {
  const own = parsed({
    rollout: { top_k: 50 },
    phases: [{ kind: 'rl', rollout: { top_k: 20 } }],
  })
  const after = (path: string, value: FieldValue) => {
    const result = steerExperiment(own, { kind: 'set', path, value }, 0, 1)
    if (!result.ok) throw new Error(result.message)
    return valueAt(result.experiment, path)
  }
  expect(after('validation.test_freq', null)).toBe(10)
  expect(after('validation.test_freq', NONE)).toBeNull()
  expect(after('phases.0.rollout.top_k', null)).toBeUndefined()
  expect(after('phases.0.rollout.top_k', NONE)).toBeNull()
  expect(after('phases.0.stop.score', null)).toBeNull()
  const link = `${encodeLink(own)}&steering.0=4,set,validation.test_freq,${NONE}`
  expect(decodeLink(link)).toMatchObject({
    experiment: { steering: [{ step: 4, kind: 'set', path: 'validation.test_freq', value: NONE }] },
    notices: [],
  })
})

test('what is sent to a run for a field of the settings leaves it as it is there', () => {
  const none = parsed({
    validation: { test_freq: null },
    phases: [{ kind: 'rl', rollout: { top_k: null } }],
  })
  const fields = new Map(documentFields(none).map((field) => [field.path, field]))
  const sent = (path: string) => valueToSet(fields.get(path) as DocumentField)
  expect(sent('validation.test_freq')).toBe(NONE)
  expect(sent('phases.0.rollout.top_k')).toBe(NONE)
  expect(sent('phases.0.actor.loss_scale_factor')).toBeNull()
  expect(sent('phases.0.name')).toBeNull()
  expect(sent('probe.freq')).toBe(1)
})
