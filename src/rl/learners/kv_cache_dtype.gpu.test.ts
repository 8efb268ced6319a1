// A run whose rollouts keep their keys and values as halves: the same training to rounding, over
// ten steps.
import { expect, test } from 'vitest'
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { Trainer } from '../train/trainer.ts'

const gpu = await Gpu.open()
const STEPS = 10

/** The log-probs of the rollout are the old ones (bypass mode), so what halves change reaches the
 * loss, and not only the tokens. */
function config(dtype: CacheDType): TrainerConfig {
  const rl: RlPhase = {
    ...RL,
    steps: STEPS,
    rollout: { ...RL.rollout, dtype },
    algorithm: {
      ...RL.algorithm,
      rollout_correction: { ...RL.algorithm.rollout_correction, bypass_mode: true },
    },
  }
  return { ...CONFIG, seed: 5, phases: [SFT, rl] }
}

interface Trajectory {
  readonly begun: Float32Array
  readonly weights: Float32Array
  /** Of each step: every response, and the mean difference to the old log-probs. */
  readonly responses: readonly string[]
  readonly ppo_kl: readonly number[]
}

async function trajectory(dtype: CacheDType): Promise<Trajectory> {
  const trainer = await Trainer.create(gpu, config(dtype))
  for (let step = 0; step <= SFT.steps; step++) await trainer.next()
  const begun = await trainer.exportWeights()
  const responses: string[] = []
  const ppo_kl: number[] = []
  while (!trainer.isFinished) {
    const { samples, metrics } = await trainer.next()
    responses.push(samples.map(({ response }) => response).join(' '))
    ppo_kl.push(metrics['actor/ppo_kl'])
  }
  return { begun, weights: await trainer.exportWeights(), responses, ppo_kl }
}

const norm = (values: Float32Array) => Math.hypot(...values)
const difference = (a: Float32Array, b: Float32Array) => a.map((x, i) => x - b[i])

test.skipIf(!process.env.LONG_TESTS)(
  'ten steps on a cache of halves sample the same tokens and end at the same weights to rounding',
  async () => {
    const plain = await trajectory('float32')
    const half = await trajectory('float16')
    expect(half.begun).toEqual(plain.begun)
    expect(half.responses).toHaveLength(STEPS)
    // A token whose chance lies within rounding of the number drawn for it could differ; at this
    // seed none does.
    expect(half.responses).toEqual(plain.responses)
    const moved = norm(difference(plain.weights, plain.begun))
    const apart = norm(difference(half.weights, plain.weights))
    expect(moved).toBeGreaterThan(0.1)
    // Halves have 11 bits: log-probs of some 1e-4 apart, next to advantages of about 1.
    expect(apart / moved).toBeLessThan(0.02)
    expect(half.ppo_kl, 'the caches were no halves').not.toEqual(plain.ppo_kl)
    half.ppo_kl.forEach((kl, step) => {
      expect(Math.abs(kl - plain.ppo_kl[step]), `step ${step}`).toBeLessThan(1e-3)
    })
  },
)
