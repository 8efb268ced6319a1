// Takes the critic's updates: values and GAE of each rollout batch from the critic as it is then,
// then mini-batches.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import type { Optim } from '../../src/rl/config/optim.ts'
import { computeAdvantages } from '../../src/rl/estimators/advantages.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Check, Place } from '../base/report.ts'
import {
  accumulateValueLoss,
  createCritic,
  valueGradientRef,
  valueMetrics,
  valuesOfRef,
} from './critic_models.ts'
import type { Gradients } from './gradients.ts'
import { check, joined, type ModelCase, sliceBatch } from './model_case.ts'
import { RefTrainable } from './ref_trainable.ts'
import { controlOf, weightsOf } from './trainer_runs.ts'
import {
  append,
  float32Check,
  type Series,
  seriesOutputs,
  type Weights,
  weightOutputs,
} from './trajectory_check.ts'
import { goldenOf, readOptim, trajectoryBatch } from './trajectory_plan.ts'

type Numbers = ArrayLike<number>

/** The critic has no rollouts of its own: its batches are GRPO's. */
const ROLLOUTS = 'grpo'

interface CriticPlan {
  readonly batches: number
  readonly rows: number
  readonly mini: number
  readonly gamma: number
  readonly lam: number
  readonly cliprange_value: number
  readonly optim: Optim
  readonly grad_clip: number
}

type Update = Pick<Gradients, 'loss' | 'metrics'> & { readonly grad_norm: number }

/** A critic that learns, in float64 or on the GPU. */
interface Learner {
  /** Values of the response tokens, [B, R]; updates that follow are on this batch. */
  values(batch: RolloutBatch): Promise<Numbers>
  /** One update on the mini-batch that starts at row `first`, with what values() gave and returns,
   * [B, R]. */
  update(
    batch: RolloutBatch,
    first: number,
    of: { readonly values: Numbers; readonly returns: Numbers },
  ): Promise<Update>
  weights(): Promise<Weights>
}

/** The critic's trajectory, in float64 and by the trainer's critic. */
export async function* criticTrajectoryChecks(
  c: ModelCase,
  model: HfModel,
  start: RefArrays,
  gpu: Gpu | undefined,
): AsyncGenerator<Check> {
  const plan = readPlan(c)
  yield* learnerChecks(c, plan, start, learnerRef(c, model, plan), 'reference')
  if (gpu) yield* learnerChecks(c, plan, start, await learnerGpu(c, model, gpu, plan), 'gpu')
}

function readPlan(c: ModelCase): CriticPlan {
  const golden = goldenOf(c, 'critic')
  const [updates] = c.expected.tensor('traj.critic.loss').shape
  const [batches, rows] = c.expected.tensor('traj.critic.returns').shape
  const number = (name: string) => golden.number(name)
  return {
    batches,
    rows,
    mini: (rows * batches) / updates,
    gamma: number('gamma'),
    lam: number('lam'),
    cliprange_value: number('cliprange_value'),
    ...readOptim(c),
  }
}

async function* learnerChecks(
  c: ModelCase,
  plan: CriticPlan,
  start: RefArrays,
  learner: Learner,
  on: Place,
): AsyncGenerator<Check> {
  const { expected } = c
  const { series, tokens } = await learn(c, plan, learner)
  const outputs = seriesOutputs(c, 'critic', series, on)
  const mask = expected.numbers(`traj.${ROLLOUTS}.response_mask`)
  for (const [name, parts] of Object.entries(tokens)) {
    const actual = joined(parts)
    const kept = mask.subarray(0, actual.length)
    outputs[name] = expected.output(`traj.critic.${name}`, actual, kept)
  }
  const weights = await learner.weights()
  Object.assign(outputs, weightOutputs({ expected, params: start }, 'critic', 'final', weights))
  yield check(c, 'traj.critic', on, outputs)
  if (on === 'reference') yield float32Check(c, 'critic', series)
}

/** All updates: a number per update, and arrays [B, R] of each batch. */
async function learn(c: ModelCase, plan: CriticPlan, learner: Learner) {
  const { batches, rows, mini, gamma, lam } = plan
  const rewards = c.expected.numbers(`traj.${ROLLOUTS}.token_level_rewards`)
  const series: Series = {}
  const tokens = {
    values_old: [] as Numbers[],
    returns: [] as Numbers[],
    advantages_whitened: [] as Numbers[],
  }
  for (let i = 0; i < batches; i++) {
    const batch = trajectoryBatch(c, ROLLOUTS, i)
    const { response_mask, response_length } = batch
    const count = response_mask.length
    const token_level_rewards = rewards.subarray(i * count, (i + 1) * count)
    const values = await learner.values(batch)
    const input = { token_level_rewards, response_mask, response_length, index: [], values }
    const { advantages, returns } = computeAdvantages('gae', input, { gamma, lam })
    tokens.values_old.push(values)
    tokens.returns.push(returns)
    tokens.advantages_whitened.push(advantages)
    for (let first = 0; first < rows; first += mini) {
      const { loss, metrics, grad_norm } = await learner.update(batch, first, { values, returns })
      append(series, {
        loss,
        grad_norm,
        vf_clipfrac: metrics['critic/vf_clipfrac'],
        vpred_mean: metrics['critic/vpred_mean'],
      })
    }
  }
  return { series, tokens }
}

function learnerRef(c: ModelCase, model: HfModel, plan: CriticPlan): Learner {
  const { mini, optim, grad_clip, cliprange_value } = plan
  const trainable = new RefTrainable(model.layout, model.weights)
  const { params } = trainable
  return {
    values: async (batch) => valuesOfRef(c, params, batch).response,
    async update(batch, first, { values, returns }) {
      const R = batch.response_length
      const part = sliceBatch(batch, first, mini)
      const cut = (x: Numbers) => Float64Array.from(x).subarray(first * R, (first + mini) * R)
      const targets = { values: cut(values), returns: cut(returns), cliprange_value }
      const { loss, metrics, grads } = valueGradientRef(c, params, part, targets)
      const layer = c.shape.num_hidden_layers
      return { loss, metrics, grad_norm: trainable.step(grads, layer, optim, grad_clip) }
    },
    weights: async () => params,
  }
}

async function learnerGpu(
  c: ModelCase,
  model: HfModel,
  gpu: Gpu,
  { rows, mini, optim, grad_clip, cliprange_value }: CriticPlan,
): Promise<Learner> {
  const device = await createCritic(c, model, gpu, trajectoryBatch(c, ROLLOUTS, 0), mini)
  const { actor, critic } = device
  const { tensors, trainable } = critic
  return {
    async values(batch) {
      actor.upload(batch, { micro: mini })
      critic.computeValues({ batch: rows, mini, micro: mini })
      return (await gpu.read(tensors.values))[0]
    },
    // The values are still where computeValues left them.
    async update(batch, first, { returns }) {
      gpu.write(tensors.returns, Float32Array.from(returns))
      accumulateValueLoss(device, batch, { first, mini }, cliprange_value)
      trainable.apply(c.shape.num_hidden_layers, optim, grad_clip, optim.lr)
      const [sums, history] = await gpu.read(tensors.value_sums, tensors.history)
      return { ...valueMetrics(sums), grad_norm: controlOf(history, 'grad_norm') }
    },
    weights: () => weightsOf({ model }, trainable),
  }
}
