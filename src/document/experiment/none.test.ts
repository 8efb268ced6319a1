// A field without a value is null in a document, however verl or an earlier version wrote it.
import { expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../links/link.ts'
import { parseExperiment } from './experiment.ts'
import { resolvePhases } from './resolve.ts'
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
