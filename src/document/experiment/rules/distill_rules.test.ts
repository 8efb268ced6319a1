import { describe, expect, test } from 'vitest'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { issues, parsed } from '../testing.ts'

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
      [distill({}, { layers: '3' }), 'layers: expected different layers below the trained one, 3'],
      [distill({}, { layers: '1,1' }), 'layers: expected different layers'],
      [distill({ teacher: 'ema' }, {}, { lora: { r: 4 } }), 'distillation.teacher: expected'],
      [distill({ beta: 1.5 }), 'distillation.beta: expected a number from 0 to 1, got 1.5'],
    ]
    for (const [document, message] of REFUSED)
      expect(issues(document)).toEqual([expect.stringContaining(`phases.1.${message}`)])
  })

  test('a form offers what the teacher has', () => {
    const offered = (settings: object) =>
      experimentFields(parsed(distill(settings))).filter(
        ({ path, has_effect }) => path === 'phases.1.distillation.ema_decay' && has_effect,
      )
    expect(offered({ teacher: 'ema' })).toHaveLength(1)
    expect(offered({ teacher: 'final' })).toHaveLength(0)
  })
})
