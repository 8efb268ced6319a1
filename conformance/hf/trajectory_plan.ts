// Reads the plan of a golden trajectory: batches, phases and optimizer.

import type { Optim } from '../../src/rl/config/optim.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Fields } from '../base/fields.ts'
import { goldenPhase } from './golden_actor.ts'
import { type ModelCase, readBatch } from './model_case.ts'

/** Reinforcement: rollout batches, and which phase each of them belongs to. */
export interface PolicyPlan {
  readonly tag: string
  readonly batches: number
  readonly rows: number
  readonly mini: number
  readonly optim: Optim
  readonly grad_clip: number
  readonly phaseOf: (batch: number) => RlPhase
  /** Batches of the first phase; 0 = there is only one. */
  readonly innerBatches: number
}

/** Supervised updates: update s is on all rows of batch s modulo `batches`. */
export interface SupervisedPlan {
  readonly updates: number
  readonly batches: number
  readonly optim: Optim
  readonly grad_clip: number
}

/** The record of expected.json about a trajectory. */
export const goldenOf = ({ expected }: Pick<ModelCase, 'expected'>, tag: string): Fields =>
  expected.json.fields('trajectories').fields(tag)

/** Rollout batch i of a trajectory. */
export const trajectoryBatch = (c: ModelCase, tag: string, i: number): RolloutBatch =>
  readBatch(c.expected, `traj.${tag}`, i)

/** The optimizer of all trajectories. */
export function readOptim(c: ModelCase): { optim: Optim; grad_clip: number } {
  const fields = goldenOf(c, 'optimizer')
  const [beta1, beta2] = fields.vector('betas')
  return {
    grad_clip: fields.number('clip_grad_norm'),
    optim: {
      lr: fields.number('lr'),
      lr_warmup_steps: 0,
      lr_scheduler_type: 'constant',
      min_lr_ratio: 0,
      betas: [beta1, beta2],
      weight_decay: fields.number('weight_decay'),
    },
  }
}

/** The plan of traj.sft. */
export function readSupervisedPlan(c: ModelCase): SupervisedPlan {
  const [updates] = c.expected.tensor('traj.sft.loss').shape
  const [batches] = c.expected.tensor('traj.sft.input_ids').shape
  return { updates, batches, ...readOptim(c) }
}

/** The plan of traj.grpo or traj.bupo. */
export function readPolicyPlan(c: ModelCase, tag: string): PolicyPlan {
  const golden = goldenOf(c, tag)
  const [batches, rows] = c.expected.tensor(`traj.${tag}.input_ids`).shape
  const [updates] = c.expected.tensor(`traj.${tag}.loss`).shape
  const mini = (rows * batches) / updates
  const [clip_ratio_low, clip_ratio_high, clip_ratio_c] = golden.vector('clip')
  const { optim, grad_clip } = readOptim(c)
  const actor = { clip_ratio_low, clip_ratio_high, clip_ratio_c, optim, grad_clip }
  const phaseOfLayer = (layer: number) => goldenPhase(layer, { batch: rows, mini }, actor)
  const whole = phaseOfLayer(c.shape.num_hidden_layers)
  const inner = phaseOfLayer(golden.has('layer_k') ? golden.number('layer_k') + 1 : c.layer)
  const innerBatches = golden.has('s_inter') ? golden.number('s_inter') : 0
  return {
    tag,
    batches,
    rows,
    mini,
    optim,
    grad_clip,
    innerBatches,
    phaseOf: (batch) => (batch < innerBatches ? inner : whole),
  }
}

/** Golden advantages of batch i. */
export function advantagesOf(
  { expected }: ModelCase,
  { tag, batches }: PolicyPlan,
  i: number,
): Float64Array {
  const all = expected.numbers(`traj.${tag}.advantages`)
  const count = all.length / batches
  return all.subarray(i * count, (i + 1) * count)
}
