import { describe, expect, test } from 'vitest'
import { experimentFields } from '../form/form.ts'

import { issues, parsed } from '../testing.ts'

const rl = (fields: object, rest: object = {}) => ({ ...rest, phases: [{ kind: 'rl', ...fields }] })

const reward = (kl_ctrl: object) => ({ algorithm: { use_kl_in_reward: true, kl_ctrl } })
const gae = (steps: number) => ({ kind: 'rl', adv_estimator: 'gae', steps })
const silent = { validation: { test_freq: null } }

describe('what could never have an effect', () => {
  test.for([
    [
      { phases: [{ kind: 'sft', stop: { accuracy: 0.5 } }], ...silent },
      /^phases.0.stop.accuracy: expected null \(off\), or an evaluation.* got 0.5/,
    ],
    [rl({ stop: { accuracy: 0.9 } }, silent), /^phases.0.stop.accuracy: .*there are none/],
    [
      rl({ target_layer: 2, stop: { entropy_floor: 0.5 } }, { probe: { freq: null } }),
      /^phases.0.stop.entropy_floor: .*entropy of layer 2 is measured by the probe alone/,
    ],
    [
      rl({ target_layer: 2, target_readout: 'normed', stop: { entropy_floor: 0.5 } }),
      /^phases.0.stop.entropy_floor: .*is that of its raw states; got 0.5/,
    ],
    [
      rl({ target_layer: 2 }, { rollout: { calculate_log_probs: true } }),
      /^rollout.calculate_log_probs: expected false in a phase that trains layer 2, because/,
    ],
    [{ probe: { internals: true }, ...silent }, /^probe.internals: expected off, or an evaluation/],
    [
      { phases: [gae(20)], critic: { critic_warmup: 21 } },
      /^critic.critic_warmup: expected at most 20, .*the policy would never learn; got 21/,
    ],
    [
      // The second has a critic of its own: its stage begins after the warm start.
      { phases: [gae(30), { kind: 'sft' }, { ...gae(20), critic: { critic_warmup: 21 } }] },
      /^phases.2.critic.critic_warmup: expected at most 20/,
    ],
    [
      reward({ type: 'adaptive', kl_coef: 0 }),
      /^algorithm.kl_ctrl.kl_coef: expected a number above 0, .*would stay 0; got 0/,
    ],
    [
      { ...reward({}), algorithm: { kl_penalty: 'k3+' } },
      /^algorithm.kl_penalty: expected 'kl' or 'k1'/,
    ],
    [
      { actor: { loss_mode: 'gspo' }, algorithm: { rollout_correction: { bypass_mode: true } } },
      /^actor.loss_mode: expected 'vanilla', .*loss_type \(ppo_clip\); got 'gspo'/,
    ],
    [
      { actor: { use_kl_loss: true, sync_ref_model: true }, model: { lora: { r: 4 } } },
      /^actor.sync_ref_model: expected false, because the reference of an adapter/,
    ],
    [
      { actor: { use_adaptive_entropy: true, entropy_target: 4 } },
      /^actor.entropy_target: expected less than ln V = 3.\d+ nats, .*got 4/,
    ],
    [
      { actor: { use_adaptive_entropy: true, entropy_coef_min: 0.2, entropy_coef_max: 0.1 } },
      /^actor.entropy_coef_min: expected at most entropy_coef_max \(0.1\); got 0.2/,
    ],
    [
      rl({ target_layer: 2, actor: { use_adaptive_entropy: true } }),
      /^actor.entropy_of: expected 'final', .*whole model's policy, which samples/,
    ],
    [
      rl({ steps: 4 }, { rollout: { staleness: 4 } }),
      /^rollout.staleness: expected less than the steps of the phase \(4\), .*got 4/,
    ],
    [
      rl({ target_layer: 2, rollout: { staleness: 1 } }),
      /^phases.0.rollout.staleness: expected 0 in a phase that trains layer 2, because the whole/,
    ],
    [
      {
        rollout: { staleness: 1, stale_fraction: 0.5 },
        algorithm: { filter_groups: { enable: true } },
      },
      /^rollout.stale_fraction: expected 1, because dynamic sampling chooses a whole batch/,
    ],
    [
      {
        task: { id: 'calculator_products' },
        tools: [{ id: 'calculator' }],
        rollout: { max_turns: 2, staleness: 1 },
      },
      /^rollout.staleness: expected 0 where responses have several turns \(max_turns 2\)/,
    ],
    [
      { data: { curriculum: { param: 'digits' } }, task: { id: 'sort_digits', length: 4 } },
      /^data.curriculum.param: expected a parameter of the task \(length\), or nothing; got 'digits'/,
    ],
    [
      {
        data: { curriculum: { param: 'length', start: 4 } },
        task: { id: 'sort_digits', length: 4 },
      },
      /^data.curriculum.start: expected a value of length from \d+ to below 4, the task's own/,
    ],
    [
      {
        data: { curriculum: { param: 'length' } },
        task: { id: 'sort_digits', length: 2 },
      },
      /^data.curriculum.param: expected a parameter that can be smaller, because it rises to/,
    ],
    [
      { data: { admission: { min_rate: 0.2 } } },
      /^data.admission.min_rate: expected 0, because endless draws bring no problem again/,
    ],
    [
      rl({}, { data: { train_max_samples: 64, admission: { min_rate: 0.6, max_rate: 0.4 } } }),
      /^data.admission.min_rate: expected less than max_rate \(0.4\), because no problem passes/,
    ],
    [
      {
        data: { train_max_samples: 64, admission: { max_rate: 0.9 } },
        phases: [{ kind: 'rl', epochs: 3 }],
      },
      /^phases.0.epochs: expected null, because problems are left out/,
    ],
    [
      {
        data: { train_max_samples: 64, admission: { max_rate: 0.9 } },
        algorithm: { filter_groups: { enable: true } },
        phases: [{ kind: 'rl' }],
      },
      /^data.admission.max_rate: expected 1, because dynamic sampling .* leaves out such problems/,
    ],
    [
      { actor: { loss_mode: 'geo_mean', top_entropy_quantile: 0.2 } },
      /^actor.top_entropy_quantile: expected 1, .*geo_mean has no parts/,
    ],
    [
      {
        actor: { loss_mode: 'vespo' },
        algorithm: { rollout_correction: { rollout_is: 'sequence' } },
      },
      /^algorithm.rollout_correction.rollout_is: expected 'token', .*adds up the weights/,
    ],
  ] as const)('%j is refused with its reason', ([document, reason]) => {
    expect(issues(document)).toEqual([expect.stringMatching(reason)])
  })

  test.for([
    rl({ stop: { accuracy: 0.9 } }),
    // The final policy's entropy is known from the rollout.
    rl({ stop: { entropy_floor: 0.5 } }, { probe: { freq: null } }),
    rl({ target_layer: 2, stop: { entropy_floor: 0.5 } }),
    { phases: [gae(20)], critic: { critic_warmup: 20 } },
    { phases: [gae(15), gae(15)].map((phase) => ({ ...phase, critic: { critic_warmup: 15 } })) },
    // The critic lasts through its stage, also through phases that do not use it.
    { phases: [gae(5), { kind: 'rl' }, { ...gae(5), critic: { critic_warmup: 10 } }] },
    reward({ type: 'adaptive' }),
    // Measured, and nothing else.
    reward({ kl_coef: 0 }),
    {
      actor: { loss_mode: 'reinforce' },
      algorithm: { rollout_correction: { bypass_mode: true, loss_type: 'reinforce' } },
    },
  ])('%j is legal', (document) => {
    expect(issues(document)).toEqual([])
  })

  test('a form leaves it out where it cannot be refused', () => {
    const shows = (document: object, path: string) =>
      experimentFields(parsed(document)).find((field) => field.path === path)?.hasEffect
    const mean = 'actor.loss_agg_mode'
    for (const loss_mode of ['gspo', 'sapo', 'geo_mean']) {
      expect(shows({ actor: { loss_mode } }, mean), loss_mode).toBe(false)
      expect(shows({ actor: { loss_mode, entropy_coeff: 0.01 } }, mean), loss_mode).toBe(true)
      expect(shows({ actor: { loss_mode, use_kl_loss: true } }, mean), loss_mode).toBe(true)
    }
    expect(shows({}, mean)).toBe(true)
    const floor = 'actor.optim.min_lr_ratio'
    expect(shows({}, floor)).toBe(false)
    expect(shows({ actor: { optim: { lr_scheduler_type: 'cosine' } } }, floor)).toBe(true)
  })
})
