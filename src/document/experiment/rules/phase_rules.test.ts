import { describe, expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../links/link.ts'
import { withField } from '../experiment.ts'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { edited, filter, issues, parsed, rl } from '../testing.ts'

describe('what a phase trains', () => {
  test('reaches the engine, layers as numbers; what is not said is off', () => {
    const said = {
      target_layer: 5,
      target_readout: 'normed',
      reset_optimizer: true,
      freeze: { embed_tokens: true, layers: '1, 3' },
      lr_factor_above: { layer: 2, factor: 0.1 },
      decay_final_norm: false,
    }
    const [phase] = resolvePhases(parsed(rl(said)))
    expect(phase).toMatchObject({ ...said, freeze: { embed_tokens: true, layers: [1, 3] } })
    const [plain] = resolvePhases(parsed(rl({})))
    expect(plain).toMatchObject({
      target_layer: 6,
      target_readout: 'raw',
      reset_optimizer: false,
      freeze: { embed_tokens: false, layers: [] },
      lr_factor_above: { factor: 1 },
      decay_final_norm: false,
      actor: { entropy_of: 'target_layer' },
    })
    const fork = { target_layer: 2, decay_final_norm: true, actor: { entropy_of: 'final' } }
    expect(resolvePhases(parsed(rl(fork)))[0]).toMatchObject(fork)
    // A list may be written as one, too.
    expect(parsed(rl({ freeze: { layers: [1, 3] } }))).toEqual(
      parsed(rl({ freeze: { layers: '1,3' } })),
    )
  })

  test.for([
    [rl({ target_readout: 'normed' }), /^phases.0.target_readout: .* has the final norm already/],
    [rl({ freeze: { layers: '2,7' } }), /^phases.0.freeze.layers: .*1 to 6; got 7/],
    [rl({ freeze: { layers: '0' } }), /^phases.0.freeze.layers: expected whole numbers/],
    [rl({ freeze: { layers: '1,' } }), /^phases.0.freeze.layers: expected whole numbers/],
    [
      rl({ freeze: { embed_tokens: true, layers: '1,2,3,4,5,6' } }),
      /^phases.0.freeze.layers: .*nothing but the final norm would learn/,
    ],
    [
      rl({ target_layer: 2, freeze: { embed_tokens: true, layers: '1,2' } }),
      /^phases.0.freeze.layers: .*would learn nothing/,
    ],
    [
      rl({ freeze: { embed_tokens: true, layers: '1' }, lr_factor_above: { layer: 1, factor: 0 } }),
      /^phases.0.freeze.layers: .*would learn nothing/,
    ],
    [
      rl({ lr_factor_above: { layer: 6, factor: 0.1 } }),
      /^phases.0.lr_factor_above.layer: expected less than 6, the last layer/,
    ],
    [
      rl({ target_layer: 3, lr_factor_above: { layer: 3, factor: 0.1 } }),
      /^phases.0.lr_factor_above.layer: expected less than 3, the trained layer/,
    ],
    [
      rl({ decay_final_norm: true }),
      /^phases.0.decay_final_norm: expected false, because the phase trains the final norm already/,
    ],
    [
      rl({ target_layer: 2, target_readout: 'normed', decay_final_norm: true }),
      /^phases.0.decay_final_norm: expected false, because the phase trains the final norm already/,
    ],
    [
      rl({ target_layer: 2, decay_final_norm: true }, { model: { lora: { r: 4 } } }),
      /^phases.0.decay_final_norm: expected false, because an adapter leaves/,
    ],
    [
      rl({ actor: { entropy_of: 'model' } }),
      /^phases.0.actor.entropy_of: expected 'target_layer' or 'final', got 'model'/,
    ],
    [rl({ lr_factor_above: { factor: -1 } }), /^phases.0.lr_factor_above.factor: .* 0 to 10/],
  ] as const)('%j is refused with its reason', ([document, reason]) => {
    expect(issues(document)).toEqual([expect.stringMatching(reason)])
  })

  test.for([
    rl({ target_layer: 2, target_readout: 'normed' }),
    rl({ target_layer: 2, decay_final_norm: true }),
    rl({ freeze: { embed_tokens: true, layers: '1,2,3,4,5' } }),
    rl({ freeze: { layers: '1,2,3,4,5,6' } }),
    // A head of its own is left to train.
    rl(
      { freeze: { embed_tokens: true, layers: '1,2,3,4,5,6' } },
      { model: { tie_word_embeddings: false } },
    ),
    // Not used, so it may be anything.
    rl({ target_layer: 1, lr_factor_above: { layer: 9, factor: 1 } }),
    rl({ lr_factor_above: { layer: 0, factor: 0 } }),
  ])('%j is legal', (document) => {
    expect(issues(document)).toEqual([])
  })

  test('a form shows each where it has an effect', () => {
    const shown = (document: object, index: number) =>
      experimentFields(parsed(document))
        .filter(({ path, hasEffect }) => path.startsWith(`phases.${index}.`) && hasEffect)
        .map(({ path }) => path.slice(`phases.${index}.`.length))
    const final = shown({ phases: [{ kind: 'sft' }, { kind: 'rl' }] }, 1)
    expect(final).toEqual(expect.arrayContaining(['freeze.layers', 'lr_factor_above.factor']))
    for (const hidden of ['target_readout', 'reset_optimizer', 'lr_factor_above.layer'])
      expect(final, hidden).not.toContain(hidden)
    const slow = { kind: 'rl', target_layer: 3, lr_factor_above: { factor: 0.1 } }
    expect(shown({ phases: [{ kind: 'rl' }, slow] }, 1)).toEqual(
      expect.arrayContaining(['target_readout', 'reset_optimizer', 'lr_factor_above.layer']),
    )
  })

  test('what goes on above an inner layer is a choice for inner layers alone', () => {
    const shown = (phases: readonly object[], actor: object = {}) =>
      experimentFields(parsed({ phases, actor }))
        .filter(({ path, hasEffect }) => hasEffect && /decay_final_norm|entropy_of$/.test(path))
        .map(({ path }) => path)
    const inner = { kind: 'rl', target_layer: 2 }
    const bonus = { entropy_coeff: 0.01 }
    expect(shown([{ kind: 'rl' }], bonus)).toEqual([])
    expect(shown([inner, { kind: 'rl' }])).toEqual(['phases.0.decay_final_norm'])
    expect(shown([{ ...inner, target_readout: 'normed' }])).toEqual([])
    expect(shown([{ kind: 'rl' }, inner], bonus)).toEqual([
      'phases.1.decay_final_norm',
      'phases.1.actor.entropy_of',
      'actor.entropy_of',
    ])
    // An edit, and back.
    const before = parsed({ phases: [inner, { kind: 'rl' }] })
    const after = edited(before, 'phases.0.decay_final_norm', true)
    expect(resolvePhases(after)[0]).toMatchObject({ decay_final_norm: true })
    expect(edited(after, 'phases.0.decay_final_norm', undefined)).toEqual(before)
  })

  test('a link carries it', () => {
    const experiment = parsed({
      phases: [
        { kind: 'sft' },
        {
          kind: 'rl',
          target_layer: 5,
          target_readout: 'normed',
          reset_optimizer: true,
          freeze: { embed_tokens: true, layers: '1,2' },
          lr_factor_above: { layer: 3, factor: 0 },
        },
        { kind: 'rl', target_layer: 2, decay_final_norm: true, actor: { entropy_of: 'final' } },
      ],
      actor: { entropy_coeff: 0.01 },
      ...filter({ metric: 'seq_reward', max_num_gen_batches: 4 }),
      probe: { internals: true },
    })
    const { experiment: back, notices } = decodeLink(encodeLink(experiment))
    expect(notices).toEqual([])
    expect(back).toEqual(experiment)
  })

  test('a model that loses a layer says which setting is in the way', () => {
    const edit = withField(parsed(rl({ freeze: { layers: '6' } })), 'model.num_hidden_layers', 4)
    expect(edit).toEqual({
      ok: false,
      message: 'phases.0.freeze.layers: expected layers of the model, 1 to 4; got 6',
    })
  })
})

describe('how the critic goes through a batch', () => {
  const gae = (critic: object, rest: object = {}) => ({
    ...rest,
    critic,
    phases: [{ kind: 'rl', adv_estimator: 'gae' }],
  })
  const criticOf = (document: object) => {
    const [phase] = resolvePhases(parsed(document))
    return phase.kind === 'rl' ? phase.critic : undefined
  }

  test('as the actor does unless it says otherwise', () => {
    expect(criticOf(gae({}))).toMatchObject({ ppo_epochs: null, ppo_mini_batch_size: null })
    const own = { ppo_epochs: 4, ppo_mini_batch_size: 8 }
    expect(criticOf(gae(own))).toMatchObject(own)
    const experiment = parsed(gae(own))
    expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
  })

  test('a size that does not fit is refused with its reason, where there is a critic', () => {
    expect(issues(gae({ ppo_mini_batch_size: 5 }))).toEqual([
      "critic.ppo_mini_batch_size: expected null (the actor's) or a divisor of rollout.train_batch_size (32), because every mini-batch has the same size; got 5",
    ])
    const micro = { actor: { ppo_micro_batch_size_per_gpu: 64 } }
    expect(issues(gae({ ppo_mini_batch_size: 4 }, micro))).toEqual([
      expect.stringMatching(/^critic.ppo_mini_batch_size: .*micro-batches of 64 responses/),
    ])
    expect(issues(gae({ ppo_mini_batch_size: 8 }, micro))).toEqual([])
    expect(issues(rl({}, { critic: { ppo_mini_batch_size: 5 } }))).toEqual([])
  })
})

describe('what a critic begins as', () => {
  const rm = { kind: 'reward_model' }
  const ppo = { kind: 'rl', adv_estimator: 'gae' }
  const judged = { ...ppo, critic: { model: { init: 'reward_model' } } }
  const grpo = { kind: 'rl' }

  test('reaches the engine, and a link carries it', () => {
    const experiment = parsed({ phases: [rm, grpo, judged] })
    expect(resolvePhases(experiment)[2]).toMatchObject({
      critic: { model: { init: 'reward_model' } },
    })
    expect(resolvePhases(parsed({ phases: [ppo] }))[0]).toMatchObject({
      critic: { model: { init: 'actor' } },
    })
    const { experiment: back, notices } = decodeLink(encodeLink(experiment))
    expect([back, notices]).toEqual([experiment, []])
    // A critic that continues follows the experiment's own choice.
    expect(issues({ phases: [rm, ppo, ppo], critic: judged.critic })).toEqual([])
  })

  test.for([
    [{ phases: [judged] }, /^phases.0.critic.model.init: expected 'actor', because no earlier/],
    [{ phases: [ppo, rm], critic: judged.critic }, /^critic.model.init: expected 'actor'/],
    [
      { phases: [rm, ppo, grpo, judged] },
      /^phases.3.critic.model.init: .* because its critic began in phase 2 and continues here/,
    ],
  ] as const)('%j is refused with its reason', ([document, reason]) => {
    expect(issues(document)).toEqual([expect.stringMatching(reason)])
  })

  test('is offered where a critic begins and a reward model came before', () => {
    const shown = (phases: object[]) =>
      experimentFields(parsed({ phases }))
        .filter(({ path, hasEffect }) => path.endsWith('critic.model.init') && hasEffect)
        .map(({ path }) => path)
    expect(shown([ppo, rm, grpo, ppo, ppo])).toEqual([
      'phases.3.critic.model.init',
      'critic.model.init',
    ])
    expect(shown([rm, grpo])).toEqual([])
    expect(shown([ppo])).toEqual([])
  })
})

describe('a warm-up over a share of the steps', () => {
  const warm = { lr_warmup_steps: null, lr_warmup_steps_ratio: 0.1 }
  const document = {
    actor: { optim: warm },
    phases: [
      { kind: 'sft', optim: warm, steps: 30 },
      { kind: 'reward_model', optim: warm },
      { kind: 'rl', steps: 25 },
      { kind: 'rl', steps: 34 },
    ],
  }

  test('reaches the engine for every kind of phase, with steps that are given beside it', () => {
    for (const phase of resolvePhases(parsed(document)))
      expect(phase.kind === 'rl' ? phase.actor.optim : phase.optim).toMatchObject(warm)
    const [given] = resolvePhases(
      parsed({ phases: [{ kind: 'sft', optim: { ...warm, lr_warmup_steps: 0 } }] }),
    )
    expect(given).toMatchObject({ optim: { lr_warmup_steps: 0 } })
  })

  test('a link carries it, and a form shows it where no steps are given', () => {
    const experiment = parsed(document)
    expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
    const shown = (from: object) =>
      experimentFields(parsed(from))
        .filter(({ path, hasEffect }) => path.endsWith('lr_warmup_steps_ratio') && hasEffect)
        .map(({ path }) => path)
    // The last phase continues the schedule of the one before it, whose warm-up it is.
    expect(shown(document)).toEqual([
      'phases.0.optim.lr_warmup_steps_ratio',
      'phases.1.optim.lr_warmup_steps_ratio',
      'phases.2.actor.optim.lr_warmup_steps_ratio',
      'actor.optim.lr_warmup_steps_ratio',
    ])
    expect(shown({})).toEqual([])
  })
})
