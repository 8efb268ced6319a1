// Makes the trainer's actor with the weights and settings of a golden case.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { ACTOR_DEFAULTS } from '../../src/rl/config/actor.ts'
import { ALGORITHM_DEFAULTS } from '../../src/rl/config/algorithm.ts'
import { CRITIC } from '../../src/rl/config/critic.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { defaultsOf } from '../../src/rl/fields/field.ts'
import { Actor } from '../../src/rl/learners/actor.ts'
import type { ModelCase } from './model_case.ts'

/** For phases whose gradients alone are looked at. */
const OPTIM = { ...defaultsOf(CRITIC).optim, lr: 1e-3 }

/** A reinforcement phase of `rows` rows, `mini` at a time; one response per prompt, so that rows
 * are prompts. */
export function goldenPhase(
  target_layer: number,
  rows: { batch: number; mini: number },
  actor: Partial<RlPhase['actor']>,
): RlPhase {
  return {
    kind: 'rl',
    name: 'golden',
    steps: 1,
    adv_estimator: 'grpo',
    target_layer,
    rollout: {
      train_batch_size: rows.batch,
      n: 1,
      temperature: 1,
      top_p: 1,
      top_k: null,
      max_response_length: 1,
    },
    actor: {
      ...ACTOR_DEFAULTS,
      ppo_mini_batch_size: rows.mini,
      ppo_epochs: 1,
      clip_ratio_low: 0.2,
      clip_ratio_high: 0.2,
      clip_ratio_c: 3,
      grad_clip: 1,
      optim: OPTIM,
      ...actor,
    },
    critic: defaultsOf(CRITIC),
    algorithm: ALGORITHM_DEFAULTS,
    reward_model: { enable: false },
  }
}

/** An actor with the case's weights, or the factors of an adapter beside them, and room for such
 * batches. */
export function goldenActor(
  { model, matmul }: Pick<ModelCase, 'model' | 'matmul'>,
  gpu: Gpu,
  batch: RolloutBatch,
  phases: Parameters<typeof Actor.create>[3],
  {
    microRows = batch.rows,
    factors,
  }: { readonly microRows?: number; readonly factors?: Float32Array | undefined } = {},
): Promise<Actor> {
  const size = {
    prompt_length: batch.prompt_length,
    response_length: batch.response_length,
    batchRows: batch.rows,
    microRows,
    updates: batch.rows,
    probeRows: Math.min(microRows, batch.rows),
    hasReference: true,
    kernels: { matmul },
  }
  return Actor.create(gpu, model.layout, size, phases, { weights: model.weights, factors })
}

/** A supervised phase of batches of that many rows. */
export const sftPhase = (batch_size: number) =>
  ({ kind: 'sft', name: 'golden', steps: 1, batch_size, grad_clip: 1, optim: OPTIM }) as const
