// Links that were given away. What each of them means must never change: add lines, do not edit
// any.
import { describe, expect, test } from 'vitest'
import { decodeCard } from '../../host/protocol/card.ts'
import { decodeLink, encodeLink } from './link.ts'
import { decodeSummary } from './summary.ts'
import { tabOf, viewParts } from './view.ts'
import { readOptions } from './view_options.ts'

describe('experiments', () => {
  const golden: [string, object][] = [
    [
      'v=1&p=tiny',
      { name: 'Tiny: sort three digits', seed: 1, task: { id: 'sort_digits', length: 3 } },
    ],
    [
      'v=1&p=two-skills-bupo&seed=3&actor.optim.lr=0.0002',
      { seed: 3, actor: { optim: { lr: 0.0002 } } },
    ],
    ['v=1&p=two-skills-bupo&name=My+own+%26+best', { name: 'My own & best' }],
    [
      'v=1&p=two-skills-bupo&phases.1.target_layer=3&phases.1.actor.optim.lr=0.001',
      {
        phases: [
          { kind: 'sft' },
          { kind: 'rl', target_layer: 3, actor: { optim: { lr: 0.001 } } },
          { kind: 'rl', target_layer: 'final' },
        ],
      },
    ],
    [
      'v=1&p=two-skills-grpo&phases=sft,rl,rl&phases.1.steps=12',
      { phases: [{ kind: 'sft' }, { kind: 'rl', steps: 12 }, { kind: 'rl', steps: 120 }] },
    ],
    [
      'v=1&p=two-skills-bupo&task.id=sort_digits&task.length=8',
      { task: { id: 'sort_digits', length: 8 }, rollout: { max_response_length: 9 } },
    ],
    // A phase's own half of a pair takes the other half from the experiment.
    [
      'v=1&p=two-skills-grpo&phases.1.actor.optim.betas.0=0.8',
      { phases: [{}, { actor: { optim: { betas: [0.8, 0.95] } } }] },
    ],
    [
      'v=1&p=tiny&kernels=nt_m64_n32_k16:skinny_8x16,*:vector_4x4',
      { kernels: 'nt_m64_n32_k16:skinny_8x16,*:vector_4x4' },
    ],
    [
      'v=1&p=rlhf-clicks&phases.1.pairs.verdicts=abbsa3ab7u',
      { phases: [{}, { kind: 'reward_model', pairs: { verdicts: 'abbsa3ab7u' } }, {}] },
    ],
    [
      'v=1&p=tiny&steering.0=40,next_phase&steering.1=66,set,actor.optim.lr,0.0005',
      {
        steering: [
          { step: 40, kind: 'next_phase' },
          { step: 66, kind: 'set', path: 'actor.optim.lr', value: 0.0005 },
        ],
      },
    ],
    [
      'v=1&p=tiny&data.train_max_samples=200&data.shuffle=false&phases.0.epochs=3&phases.2.epochs=2&actor.shuffle=true',
      {
        data: { train_max_samples: 200, shuffle: false },
        phases: [{ epochs: 3, steps: 9 }, { steps: 4 }, { epochs: 2, steps: 12 }],
        actor: { shuffle: true },
      },
    ],
    [
      'v=1&p=tiny-ppo&phases=sft,reward_model,rl&critic.model.init=reward_model&critic.ppo_epochs=2&critic.ppo_mini_batch_size=32&critic.optim.lr_warmup_steps=-1&critic.optim.lr_warmup_steps_ratio=0.1&algorithm.use_kl_in_reward=true&algorithm.kl_at_last_token=true',
      {
        critic: {
          model: { init: 'reward_model' },
          ppo_epochs: 2,
          ppo_mini_batch_size: 32,
          optim: { lr_warmup_steps: null, lr_warmup_steps_ratio: 0.1 },
        },
        algorithm: { kl_at_last_token: true },
      },
    ],
    [
      'v=1&p=two-skills-grpo&rollout.train_batch_size=256&rollout.n=1&actor.ppo_mini_batch_size=128&critic.optim.lr=0.001&algorithm.lam=0.95&phases.1.adv_estimator=gae&phases.1.critic.optim.betas.1=0.95',
      {
        rollout: { n: 1 },
        critic: { optim: { lr: 0.001, betas: [0.9, 0.999] } },
        algorithm: { lam: 0.95 },
        phases: [{}, { adv_estimator: 'gae', critic: { optim: { betas: [0.9, 0.95] } } }],
      },
    ],
    [
      'v=1&p=two-skills-grpo&algorithm.rollout_correction.rollout_rs=token_k1,seq_max_k3&algorithm.rollout_correction.rollout_rs_threshold=0.5_2,0.1&actor.use_kl_loss=true&actor.kl_loss_type=low_var_kl%2B',
      {
        actor: { use_kl_loss: true, kl_loss_type: 'low_var_kl+' },
        algorithm: {
          rollout_correction: {
            rollout_rs: 'token_k1,seq_max_k3',
            rollout_rs_threshold: '0.5_2,0.1',
          },
        },
      },
    ],
    [
      'v=1&p=tiny&phases=sft,reward_model,rl&phases.2.reward_model.enable=true',
      { phases: [{}, { kind: 'reward_model' }, { reward_model: { enable: true } }] },
    ],
    // Without the phase that trains it, a preset's phase has no reward model.
    [
      'v=1&p=rlhf-tiny&phases=sft,sft,rl',
      { phases: [{}, { kind: 'sft' }, { reward_model: { enable: false } }] },
    ],
    // Names no own setting: the phase goes by the experiment's.
    [
      'v=1&p=two-skills-grpo&actor.optim.lr=0.0003&phases.1.actor.optim.lr=inherit',
      { actor: { optim: { lr: 0.0003 } }, phases: [{ kind: 'sft' }, { steps: 120 }] },
    ],
  ]
  test.for(golden)('%s', ([link, expected]) => {
    const { experiment, notices } = decodeLink(link)
    expect(notices).toEqual([])
    expect(experiment).toMatchObject(expected)
    expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
  })
})

test('a result card', () => {
  const hash =
    '#card=1&adapter=NVIDIA+H100+(Hopper)+%26+co%2B1&browser=Chrome+142&peak_gflops=51230&peak_gbps=2346' +
    '&matmul_256_gflops=1234&matmul_512_gflops=9877&sft_steps_per_second=123.5' +
    '&rl_steps_per_second=0.01235&rollout_tokens_per_second=0'
  expect(decodeCard(hash)).toEqual({
    card: {
      adapter: 'NVIDIA H100 (Hopper) & co+1',
      browser: 'Chrome 142',
      peak_gflops: 51230,
      peak_gbps: 2346,
      matmul_256_gflops: 1234,
      matmul_512_gflops: 9877,
      sft_steps_per_second: 123.5,
      rl_steps_per_second: 0.01235,
      rollout_tokens_per_second: 0,
    },
    notices: [],
  })
  expect(tabOf(hash)).toBe('gpu')
})

test('tabs', () => {
  expect(['', '#tab=inside', '#tab=tokens', '#tab=runs', '#tab=gpu'].map(tabOf)).toEqual([
    'learn',
    'inside',
    'tokens',
    'runs',
    'gpu',
  ])
})

test('a view for a class', () => {
  const hash =
    '#tab=inside&embed=1&hide=header,experiment,steps,share,settings,numbers,phases,intro,tabs,samples,heatmap,small' +
    '&lock=experiment,settings,phases'
  expect(tabOf(hash)).toBe('inside')
  expect(readOptions(hash)).toEqual({
    options: {
      embed: true,
      hide: [
        'header',
        'experiment',
        'steps',
        'share',
        'settings',
        'numbers',
        'phases',
        'intro',
        'tabs',
        'samples',
        'heatmap',
        'small',
      ],
      lock: ['experiment', 'settings', 'phases'],
    },
    notices: [],
  })
})

test('the sender’s curves', () => {
  const hash =
    '#tab=tokens&hide=intro&r=AQtOVklESUEgSDEwMKwCAwNkZGQCAJYBAawCBwAAAAAAAD-AAAA_gAAAAH_-AQA-gAAAPoAAAD6AAAAAAAACAQAAAAA_QAAAP0AAAAD-AwC_gAAAP4AAAD-AAAAA__4EAj8AAAA_AAAAPwAAAAAgAT-AAABAAAAAP4AAAP4AJgFAQAAAQEAAAH_AAAAA_w'
  expect(tabOf(hash)).toBe('tokens')
  const { result, notices } = decodeSummary(viewParts(hash).r ?? '')
  expect(notices).toEqual([])
  expect(result).toEqual({
    adapter: 'NVIDIA H100',
    steps: 300,
    lines: [
      { name: 'critic/score/mean', steps: [100, 200, 300], values: [0, 0.5, 1] },
      { name: 'task/score/mean', steps: [100, 200, 300], values: [0.25, 0.25, 0.25] },
      { name: 'val-aux/acc/greedy', steps: [0, 150], values: [0, 0.75] },
      { name: 'actor/ppo_kl', steps: [100, 200, 300], values: [-1, Number.NaN, 1] },
      { name: 'reward_model/held_out_accuracy', steps: [300], values: [0.5] },
      { name: 'layer/entropy/0', steps: [0, 150], values: [2, 1] },
      { name: 'layer/entropy/6', steps: [0, 150], values: [3, Number.NaN] },
    ],
  })
})
