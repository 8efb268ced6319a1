import { describe, expect, test } from 'vitest'
import { ADV_ESTIMATORS, comparesGroups } from '../../../rl/estimators/advantages.ts'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { filter, issues, parsed, rl } from '../testing.ts'

describe('dynamic sampling', () => {
  test('is off unless asked for, and verl’s nulls are understood', () => {
    expect(parsed({}).algorithm.filter_groups).toEqual({
      enable: false,
      metric: 'acc',
      max_num_gen_batches: 10,
    })
    expect(parsed({ algorithm: { filter_groups: null } })).toEqual(parsed({}))
    expect(parsed(filter({ metric: null }))).toEqual(parsed(filter({})))
  })

  test('a phase may set it for itself', () => {
    const phases = [{ kind: 'rl', ...filter({ max_num_gen_batches: 3 }) }, { kind: 'rl' }]
    const [own, other] = resolvePhases(parsed({ phases }))
    expect(own).toMatchObject(filter({ metric: 'acc', max_num_gen_batches: 3 }))
    expect(other).toMatchObject({ algorithm: { filter_groups: { enable: false } } })
  })

  test.for([
    [
      { ...rl({ adv_estimator: 'gae' }), rollout: { n: 1 }, ...filter({}) },
      /^algorithm.filter_groups.enable: .*one response alone cannot differ.* n = 1/,
    ],
    [
      {
        algorithm: {
          use_kl_in_reward: true,
          filter_groups: { enable: true, metric: 'seq_final_reward' },
        },
      },
      /^algorithm.filter_groups.metric: .*none would be left out; got seq_final_reward/,
    ],
    [filter({ max_num_gen_batches: 0 }), /^algorithm.filter_groups.max_num_gen_batches: .*from 1/],
    [filter({ metric: 'pred' }), /^algorithm.filter_groups.metric: expected 'acc' or 'score'/],
  ] as const)('%j is refused with its reason', ([document, reason]) => {
    expect(issues(document)).toEqual([expect.stringMatching(reason)])
  })

  test('the rest of it has an effect only where it is on', () => {
    const effect = (document: object) =>
      experimentFields(parsed(document)).find(
        ({ path }) => path === 'algorithm.filter_groups.metric',
      )?.hasEffect
    expect(effect({})).toBe(false)
    expect(effect(filter({}))).toBe(true)
  })
})

test.for(ADV_ESTIMATORS.filter(comparesGroups))(
  '%s with one response per prompt is refused, because it compares responses',
  (adv_estimator) => {
    expect(issues({ ...rl({ adv_estimator }), rollout: { n: 1 } })).toEqual([
      expect.stringMatching(/^rollout.n: expected at least 2 responses per prompt/),
    ])
  },
)

test('DAPO is an experiment: clip-higher, dynamic sampling, the overlong penalty and the mean over tokens', () => {
  const dapo = {
    actor: { clip_ratio_low: 0.2, clip_ratio_high: 0.28, loss_agg_mode: 'token-mean' },
    algorithm: {
      filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 10 },
      overlong_buffer: { len: 2, penalty_factor: 1 },
    },
  }
  const [, phase] = resolvePhases(parsed({ ...dapo, rollout: { max_response_length: 8 } }))
  expect(phase).toMatchObject(dapo)
})
