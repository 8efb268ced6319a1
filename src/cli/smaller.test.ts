import { expect, test } from 'vitest'
import { resolvePhases } from '../document/experiment/resolve.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { PRESETS } from '../document/presets/presets.ts'
import { smallerExperiment } from '../record/diagnosis/smaller.ts'
import { planMemory } from '../rl/train/parts/memory.ts'

test.for(PRESETS.map(({ id, experiment }) => [id, experiment] as const))(
  '%s: half of it needs less memory',
  ([, experiment]) => {
    const smaller = smallerExperiment(experiment)
    if (!smaller) throw new Error('no smaller experiment')
    const bytes = (of: typeof experiment) => planMemory(trainerConfig(of)).total()
    expect(bytes(smaller)).toBeLessThan(bytes(experiment))
    for (const [i, phase] of resolvePhases(smaller).entries()) {
      const before = resolvePhases(experiment)[i]
      if (phase.kind === 'rl' && before.kind === 'rl')
        expect(phase.rollout.train_batch_size).toBe(Math.ceil(before.rollout.train_batch_size / 2))
    }
  },
)

test('what cannot be halved is not offered', () => {
  let experiment = PRESETS[0].experiment
  for (let i = 0; i < 20; i++) experiment = smallerExperiment(experiment) ?? experiment
  expect(smallerExperiment(experiment)).toBeUndefined()
})
