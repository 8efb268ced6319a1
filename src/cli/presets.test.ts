import { expect, test } from 'vitest'
import { trainerConfig } from '../lab/experiment/trainer_config.ts'
import { PRESETS } from '../lab/presets/presets.ts'
import { modelShape } from '../model/params/config.ts'
import { paramLayout } from '../model/params/params.ts'
import { planMemory } from '../rl/train/memory.ts'

const DEFAULT_BINDING_BYTES = 128 * 2 ** 20

test.for(PRESETS.map(({ id, experiment }) => [id, experiment] as const))(
  '%s trains within WebGPU’s default limits and 200 MB',
  ([, experiment]) => {
    const plan = planMemory(trainerConfig(experiment))
    expect(plan.total()).toBeLessThan(200e6)
    expect(plan.largest.bytes).toBeLessThan(DEFAULT_BINDING_BYTES)
  },
)

test('the two-skills presets train 294,528 weights on 256 rollouts per step', () => {
  for (const { id, experiment } of PRESETS.filter((p) => p.id.startsWith('two-skills'))) {
    const { model, phases } = trainerConfig(experiment)
    expect(paramLayout(modelShape(model)).num_parameters, id).toBe(294_528)
    for (const phase of phases)
      if (phase.kind === 'rl') expect(phase.rollout.train_batch_size * phase.rollout.n).toBe(256)
  }
})
