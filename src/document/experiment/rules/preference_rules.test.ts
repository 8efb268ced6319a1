import { describe, expect, test } from 'vitest'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { issues, parsed } from '../testing.ts'

const preference = (fields: object = {}, change: object = {}) => ({
  phases: [{ kind: 'sft' }, { kind: 'preference', preference: fields, ...change }],
})

describe('preference phases', () => {
  test('a phase has TRL’s names and defaults, and is called after its loss', () => {
    const [, phase] = resolvePhases(parsed(preference()))
    expect(phase).toMatchObject({
      name: 'DPO',
      batch_size: 32,
      target_layer: 6,
      target_readout: 'raw',
      preference: {
        loss_type: 'sigmoid',
        beta: 0.1,
        label_smoothing: 0,
        rpo_alpha: 0,
        simpo_gamma: 0.5,
        cpo_alpha: 1,
        desirable_weight: 1,
        undesirable_weight: 1,
        f_divergence_type: 'reverse_kl',
        ld_alpha: 1,
        reference_free: false,
      },
      pairs: { source: 'judge', verdicts: [] },
    })
    const inner = preference({ loss_type: 'kto' }, { target_layer: 2 })
    expect(resolvePhases(parsed(inner))[1]).toMatchObject({ name: 'KTO, layer 2', target_layer: 2 })
  })

  test('the last layer’s policy has one name', () => {
    expect(parsed(preference({}, { target_layer: 6 }))).toEqual(parsed(preference()))
  })

  test('settings that contradict the loss are refused where they stand', () => {
    const REFUSED: readonly [object, object, string][] = [
      [{ beta: 0 }, {}, 'preference.beta: expected a number from 0.0001 to 100, got 0'],
      [
        { loss_type: 'simpo', f_divergence_type: 'forward_kl' },
        {},
        'preference.f_divergence_type: expected reverse_kl with the loss simpo',
      ],
      [
        { loss_type: 'kto', rpo_alpha: 1 },
        {},
        'preference.rpo_alpha: expected 0 with the loss kto',
      ],
      [{ loss_type: 'simpo', reference_free: true }, {}, 'preference.reference_free: expected off'],
      [
        {},
        { target_layer: 9 },
        'target_layer: expected ’final’ or an inner layer'.replaceAll('’', "'"),
      ],
      [{}, { target_readout: 'normed' }, "target_readout: expected 'raw'"],
      [{}, { pairs: { source: 'file' } }, 'pairs.source: expected judge, human or mixed'],
    ]
    for (const [settings, change, message] of REFUSED)
      expect(issues(preference(settings, change))).toEqual([
        expect.stringContaining(`phases.1.${message}`),
      ])
  })

  test('a reward model of an earlier phase may judge pairs, where somebody else does not', () => {
    const judged = (pairs: object, before: object[] = [{ kind: 'reward_model' }]) => ({
      phases: [...before, { kind: 'preference', reward_model: { enable: true }, pairs }],
    })
    for (const source of ['judge', 'mixed']) expect(issues(judged({ source, n: 4 }))).toEqual([])
    expect(resolvePhases(parsed(judged({ n: 4 })))[1]).toMatchObject({
      reward_model: { enable: true },
      pairs: { n: 4 },
    })
    expect(issues(judged({ source: 'human' }))).toEqual([
      'phases.1.reward_model.enable: expected false, because a reward model judges pairs in place of the task (pairs.source judge or mixed), and here human does; got true',
    ])
    expect(issues(judged({}, [{ kind: 'sft' }]))).toEqual([
      expect.stringMatching(/^phases\.1\.reward_model\.enable: expected false, because no earlier/),
    ])
    const offered = (before: object) =>
      experimentFields(parsed({ phases: [before, { kind: 'preference' }] })).find(
        ({ path }) => path === 'phases.1.reward_model.enable',
      )?.hasEffect
    expect([offered({ kind: 'reward_model' }), offered({ kind: 'sft' })]).toEqual([true, false])
  })

  test('a form offers what the loss uses', () => {
    const offered = (fields: object) =>
      experimentFields(parsed(preference(fields)))
        .filter(({ path, hasEffect }) => path.startsWith('phases.1.preference.') && hasEffect)
        .map(({ path }) => path.slice('phases.1.preference.'.length))
    expect(offered({})).toEqual([
      'loss_type',
      'beta',
      'label_smoothing',
      'rpo_alpha',
      'f_divergence_type',
      'ld_alpha',
      'use_weighting',
      'reference_free',
    ])
    expect(offered({ loss_type: 'kto' })).toEqual([
      'loss_type',
      'beta',
      'desirable_weight',
      'undesirable_weight',
    ])
    expect(offered({ f_divergence_type: 'alpha_divergence' })).toContain('f_alpha_divergence_coef')
    expect(offered({ loss_type: 'simpo' })).toContain('simpo_gamma')
  })
})
