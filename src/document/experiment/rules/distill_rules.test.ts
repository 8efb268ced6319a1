import { describe, expect, test } from 'vitest'
import { innerStudents } from '../../../rl/config/inner.ts'
import { decodeLink, encodeLink } from '../../links/link.ts'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { issues, parsed } from '../testing.ts'
import { trainerConfig } from '../trainer_config.ts'

const distill = (settings: object = {}, change: object = {}, model: object = {}) => ({
  model,
  phases: [
    { kind: 'sft' },
    { kind: 'distill', target_layer: 3, distillation: settings, ...change },
  ],
})

describe('phases that learn from a teacher', () => {
  test('a phase has TRL’s names and defaults, and is called after what it trains', () => {
    const [, phase] = resolvePhases(parsed(distill()))
    expect(phase).toMatchObject({
      name: 'distil layer 3',
      target_layer: 3,
      layers: [],
      batch_size: 64,
      distillation: { teacher: 'final', lmbda: 1, beta: 0.5, temperature: 1 },
    })
    const two = resolvePhases(parsed(distill({}, { layers: '1, 2' })))
    expect(two[1]).toMatchObject({ name: 'distil layers 1,2,3', layers: [1, 2] })
  })

  test('what could learn nothing is refused where it stands', () => {
    const REFUSED: readonly [object, string][] = [
      [distill({}, { target_layer: 'final' }), 'target_layer: expected an inner layer, 1 to 5'],
      [distill({}, { target_layer: 6 }), 'target_layer: expected an inner layer, 1 to 5'],
      [
        distill({ teacher: 'reference' }, { target_layer: 'final' }),
        'target_layer: expected an inner layer, 1 to 5, because such a teacher begins as the policy',
      ],
      [
        distill({ teacher: 'ema', crossentropy_weight: 1 }, { target_layer: 'final' }),
        'target_layer: expected an inner layer, 1 to 5, because such a teacher begins as',
      ],
      [
        distill({ crossentropy_weight: 1, lmbda: 0.5 }),
        'distillation.crossentropy_weight: expected 0, because the answers are imitated by the whole',
      ],
      [distill({ seq_kd: true }), 'distillation.seq_kd: expected off, because what the final'],
      [distill({}, { layers: '3' }), 'layers: expected different layers below the trained one, 3'],
      [distill({}, { layers: '1,1' }), 'layers: expected different layers'],
      [distill({ teacher: 'ema' }, {}, { lora: { r: 4 } }), 'distillation.teacher: expected'],
      [distill({ beta: 1.5 }), 'distillation.beta: expected a number from 0 to 1, got 1.5'],
    ]
    for (const [document, message] of REFUSED)
      expect(issues(document)).toEqual([expect.stringContaining(`phases.1.${message}`)])
  })

  test('a phase of nothing but its kind is refused with what to choose', () => {
    expect(issues({ phases: [{ kind: 'distill' }] })).toEqual([
      expect.stringMatching(
        /^phases\.0\.target_layer: expected an inner layer.*choose a layer, or another teacher \(distillation\.teacher\)/,
      ),
    ])
  })

  test('the whole model is held back by what it was where answers move it', () => {
    const held = { crossentropy_weight: 0.5, lmbda: 0.5 }
    for (const teacher of ['reference', 'ema'])
      expect(issues(distill({ teacher, ...held }, { target_layer: 'final' }))).toEqual([])
    const always = { ...held, teacher: 'reference', lmbda: 1 }
    expect(issues(distill(always, { target_layer: 'final' }))).toHaveLength(1)
    const none = { teacher: 'reference', ...held }
    expect(issues(distill(none, { target_layer: 7 }))).not.toEqual([])
  })

  test('another model teaches the whole one where it is named and has its vocabulary', () => {
    const taught = { ...distill({ teacher: 'model' }, { target_layer: 'final' }) }
    expect(issues(taught)).toEqual([
      expect.stringMatching(/^phases\.1\.distillation\.teacher: .*no other model is named/),
    ])
    const source = `sha256-${'1'.repeat(64)}`
    const withTeacher = (teacher: object) => ({ ...taught, teacher: { source, ...teacher } })
    const { teacher, model } = trainerConfig(parsed(withTeacher({ hidden_size: 128 })))
    expect(teacher).toMatchObject({ hidden_size: 128, vocab_size: model.vocab_size })
    expect(trainerConfig(parsed({})).teacher).toBeUndefined()
    const REFUSED: readonly [object, string][] = [
      [{ vocab_size: 200 }, 'teacher.vocab_size: expected the vocabulary of the model that learns'],
      [{ num_attention_heads: 5 }, 'teacher.num_key_value_heads: expected a divisor'],
      [{ head_dim: 15 }, 'teacher.head_dim: expected an even number'],
    ]
    for (const [settings, message] of REFUSED)
      expect(issues(withTeacher(settings))).toEqual([expect.stringContaining(message)])
    const last = distill({ teacher: 'model' }, { target_layer: 7 })
    expect(issues({ ...last, teacher: { source } })).toEqual([
      expect.stringContaining('phases.1.target_layer: expected the whole model or a layer up to 6'),
    ])
  })

  test('its files belong to what the document names', () => {
    const source = `sha256-${'1'.repeat(64)}`
    const named = parsed({ teacher: { source, source_name: 'larger' } })
    expect(decodeLink(encodeLink(named)).experiment.teacher).toEqual(named.teacher)
  })

  test('inner layers learn along with a phase of reinforcement where they can', () => {
    const inner = (settings: object, phase: object = {}, actor: object = {}) => ({
      phases: [
        { kind: 'rl', ...phase, actor: { ...actor, inner: { layers: '2,4', ...settings } } },
      ],
    })
    const [rl] = resolvePhases(parsed(inner({ weights: '0.1, 0.5' })))
    if (rl.kind !== 'rl') throw new Error('expected a phase of reinforcement')
    expect(innerStudents(rl.actor.inner)).toEqual([
      { layer: 2, weight: 0.1, readout: 'raw' },
      { layer: 4, weight: 0.5, readout: 'raw' },
    ])
    const own = { objective: 'deep_supervision' }
    expect(issues(inner(own, { target_layer: 5 }))).toEqual([])
    const REFUSED: readonly [object, string][] = [
      [inner({ layers: '6' }), 'layers: expected different layers below the trained one, 6'],
      [inner({ layers: '2,2' }), 'layers: expected different layers'],
      [
        inner({ weights: '1,2,3' }),
        'weights: expected one number for all layers, or one for each of',
      ],
      [inner({ weights: 'much' }), 'weights: expected numbers of at least 0'],
      [inner({}, { target_layer: 5 }), 'objective: expected deep_supervision'],
      [inner(own, {}, { shuffle: true }), 'objective: expected self_distill, or rows that keep'],
    ]
    for (const [document, message] of REFUSED)
      expect(issues(document)).toEqual([expect.stringContaining(`actor.inner.${message}`)])
    const offered = (settings: object) =>
      experimentFields(parsed(inner(settings)))
        .filter(({ path, hasEffect }) => hasEffect && path.startsWith('phases.0.actor.inner.'))
        .map(({ path }) => path.split('.').at(-1))
    expect(offered({})).toContain('beta')
    expect(offered(own)).not.toContain('beta')
    expect(offered({ layers: null })).toEqual(['layers'])
  })

  test('a form offers what the teacher has', () => {
    const offered = (settings: object, change: object = {}) =>
      experimentFields(parsed(distill(settings, change)))
        .filter(({ path, hasEffect }) => path.startsWith('phases.1.distillation.') && hasEffect)
        .map(({ path }) => path.split('.').at(-1))
    const always = ['teacher', 'lmbda', 'beta', 'temperature']
    expect(offered({ teacher: 'final', lmbda: 0.5 })).toEqual(always)
    expect(offered({ teacher: 'reference' })).toEqual(always)
    expect(offered({ teacher: 'ema' })).toContain('ema_decay')
    expect(offered({ teacher: 'reference', lmbda: 0.5 })).toContain('seq_kd')
    const whole = { teacher: 'reference', lmbda: 0.5, crossentropy_weight: 1 }
    expect(offered(whole, { target_layer: 'final' })).toContain('crossentropy_weight')
  })
})
