// Teachers during a run: what can change under them, and that they come along where the run
// needs other buffers. Here, because lab may not load the GPU side.
import { expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { TINY, tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { phase, run } from './testing.ts'

const shared = {
  teacher: { ...TINY.model, num_hidden_layers: 3, source: `sha256-${'1'.repeat(64)}` },
  validation: { test_freq: null },
}
const distill = (distillation: object, more: object = {}) => ({
  kind: 'distill',
  steps: 4,
  batch_size: 8,
  target_layer: 1,
  optim: { lr: 0.01, lr_warmup_steps: 1 },
  distillation,
  ...more,
})
const set = (path: string, value: number | string) => ({ kind: 'set', path, value }) as const

test.skipIf(!process.env.LONG_TESTS)(
  'what is changed under a teacher is repeated by the link, and a larger run keeps its teacher',
  async () => {
    const document = tinyExperiment({
      ...shared,
      phases: [{ kind: 'sft', steps: 2 }, distill({ teacher: 'final' }), { kind: 'rl', steps: 4 }],
    })
    const byHand = await run(document, {
      3: [
        set('phases.1.distillation.beta', 0),
        set('phases.1.distillation.temperature', 1.5),
        set('phases.1.distillation.lmbda', 0),
      ],
      4: [
        {
          kind: 'insert_phase',
          phase: phase(distill({ teacher: 'ema' }, { batch_size: 16 })),
        },
      ],
      6: [set('phases.2.distillation.ema_decay', 0.5)],
      // The other model: once for a whole distribution, once for advantages of samples.
      7: [
        {
          kind: 'follow_phase',
          phase: phase(distill({ teacher: 'final' }, { steps: 2 })),
        },
        set('phases.3.distillation.teacher', 'model'),
        set('phases.3.target_layer', 'final'),
        // Two students at once: a rebuild in the middle of a phase.
        set('phases.3.layers', '1'),
      ],
      11: [set('algorithm.opd_kl_coef', 1)],
      12: [set('algorithm.opd_kl_coef', 0.25)],
    })
    expect(byHand.done.filter(({ refused }) => refused)).toEqual([])
    expect(byHand.rebuilds).toBe(1)
    const plain = await run(document)
    expect(plain.rebuilds).toBe(0)
    // The teacher is the one of the beginning, bit for bit.
    expect(byHand.teacher).toEqual(plain.teacher)
    const measured = (metric: string) =>
      byHand.results.flatMap(({ step, metrics }) => (metric in metrics ? [step] : []))
    expect(measured('distillation/loss')).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
    // A weight of 0 asks no teacher.
    expect(measured('distillation/reverse_kl')).toEqual([12, 13, 14])
    const at = ({ results }: typeof plain, step: number) =>
      results.find((result) => result.step === step)?.metrics ?? {}
    expect(at(byHand, 3)).toEqual(at(plain, 3))
    expect(at(plain, 4)['distillation/on_policy']).toBe(1)
    expect(at(byHand, 4)['distillation/on_policy']).toBe(0)

    const { steering } = byHand.done[byHand.done.length - 1]
    const again = await run(
      decodeLink(encodeLink(tinyExperiment({ ...document, steering }))).experiment,
    )
    expect(again.results).toEqual(byHand.results)
    expect(again.weights).toEqual(byHand.weights)
  },
)
