import { expect, test } from 'vitest'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { PRESETS, presetOf } from '../document/presets/presets.ts'
import { unopenedModel } from '../host/content/models/unopened.ts'
import { modelShape } from '../model/layout/config.ts'
import { paramLayout } from '../model/layout/params.ts'
import { planMemory } from '../rl/train/parts/memory.ts'

const DEFAULT_BINDING_BYTES = 128 * 2 ** 20

/** Models from elsewhere are larger. */
const OWN = PRESETS.filter(({ experiment }) => unopenedModel(experiment) === undefined)

test.for(OWN.map(({ id, experiment }) => [id, experiment] as const))(
  '%s trains within WebGPU’s default limits and 200 MB',
  ([, experiment]) => {
    const plan = planMemory(trainerConfig(experiment))
    expect(plan.total()).toBeLessThan(200e6)
    expect(plan.largest.bytes).toBeLessThan(DEFAULT_BINDING_BYTES)
  },
)

test('the presets of real models are planned within their limits: LoRA on 135M in 1.5 GB, on 0.6B in 3.5 GB', () => {
  const planned = (id: string) =>
    planMemory(trainerConfig(presetOf(id)?.experiment ?? PRESETS[0].experiment))
  expect(planned('smollm2-135m-countdown').total()).toBeLessThan(1.5e9)
  expect(planned('qwen3-0-6b-gsm8k').total()).toBeLessThan(3.5e9)
  for (const id of ['smollm2-135m-countdown', 'qwen3-0-6b-gsm8k'])
    expect(planned(id).largest.bytes).toBeLessThanOrEqual(DEFAULT_BINDING_BYTES)
})

test('the two-skills presets train 294,528 weights on 256 rollouts per step', () => {
  for (const { id, experiment } of PRESETS.filter((p) => p.id.startsWith('two-skills'))) {
    const { model, phases } = trainerConfig(experiment)
    expect(paramLayout(modelShape(model)).num_parameters, id).toBe(294_528)
    for (const phase of phases)
      if (phase.kind === 'rl') expect(phase.rollout.train_batch_size * phase.rollout.n).toBe(256)
  }
})
