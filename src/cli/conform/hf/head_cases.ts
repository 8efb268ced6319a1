// Critic and reward model: values and scores, gradients, the critic's trajectory.
import { type Gpu } from '../../../kernels/gpu.ts'
import { CONTROL } from '../../../kernels/optimizer/optimizer.ts'
import { bradleyTerryRef } from '../../../kernels/preference_loss/preference_loss.ref.ts'
import { PREFERENCE_LOSS_SUMS } from '../../../kernels/preference_loss/preference_loss.ts'
import { valueLossRef } from '../../../kernels/value_loss/value_loss.ref.ts'
import { VALUE_LOSS_SUMS } from '../../../kernels/value_loss/value_loss.ts'
import type { HfModel } from '../../../model/hf_model.ts'
import { unpackWeights } from '../../../model/params.ts'
import { forwardRef, type RefArrays } from '../../../model/transformer.ref.ts'
import { forward } from '../../../model/transformer.ts'
import { readSpan, scatterSpan, valuesBackwardRef, valuesRef } from '../../../model/value.ref.ts'
import { readValues } from '../../../model/value.ts'
import { computeAdvantages } from '../../../rl/advantages.ts'
import type { RolloutBatch } from '../../../rl/batch.ts'
import { Critic, createCriticTensors } from '../../../rl/critic.ts'
import { lastRows, RewardModel } from '../../../rl/reward_model.ts'
import { CaseError } from '../fields.ts'
import type { Check, Output, Place } from '../report.ts'
import { goldenActor } from './gradient_cases.ts'
import {
  batchNames,
  check,
  globalNorm,
  type ModelCase,
  openHead,
  paramsOf,
  readBatch,
  refResponse,
  scalar,
  sliceBatch,
  widthOf,
} from './model_case.ts'
import { RefTrainable, readOptim, relativeL2, weightsOf } from './trajectory_cases.ts'

/** Loss, its metrics and the gradients by name. */
interface Gradients {
  readonly loss: number
  readonly metrics: Readonly<Record<string, number>>
  readonly grads: Readonly<Record<string, ArrayLike<number>>>
}

function gradientCheck(c: ModelCase, title: string, found: Gradients, on: Place): Check {
  const golden = c.expected.json.fields('losses').fields(title)
  const outputs: Record<string, Output> = { loss: scalar(found.loss, golden.number('loss'), on) }
  const norm = globalNorm(found.grads)
  outputs.grad_norm = scalar(norm, golden.number('grad_norm'), on)
  for (const name of c.expected.names(/./).filter((name) => name.startsWith(`${title}.`))) {
    const param = name.slice(title.length + 1)
    outputs[param] = c.expected.output(name, found.grads[param] ?? [])
  }
  const metrics = golden.fields('metrics')
  for (const name of metrics.names())
    outputs[`metrics.${name}`] = scalar(found.metrics[name], metrics.number(name), on)
  return check(c, title, on, outputs)
}

// Critic.

export async function* criticChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const critic = await openHead(c, 'critic')
  if (!critic) return
  const params = paramsOf(critic)
  yield check(c, 'critic.score', 'driver', {
    weight: copied(c, 'critic.score.weight', params['score.weight']),
    bias: copied(c, 'critic.score.bias', params['score.bias']),
  })
  for (const t of batchNames(c.expected)) {
    if (!c.expected.has(`critic.${t}.values`)) continue
    const batch = readBatch(c.expected, `in.${t}`)
    yield check(
      c,
      `critic.${t}`,
      'reference',
      valueOutputs(c, t, batch, valuesOfRef(c, params, batch)),
    )
    const device = gpu && (await createCritic(c, critic, gpu, batch))
    if (gpu && device)
      yield check(
        c,
        `critic.${t}`,
        'gpu',
        valueOutputs(c, t, batch, await valuesOfGpu(gpu, device, batch)),
      )
    if (c.expected.names(new RegExp(`^critic\\.grad\\.${t}\\.`)).length === 0) continue
    yield gradientCheck(c, `critic.grad.${t}`, criticGradientRef(c, params, t, batch), 'reference')
    if (gpu && device) {
      const found = await criticGradientGpu(c, critic, gpu, device, t, batch)
      yield gradientCheck(c, `critic.grad.${t}`, found, 'gpu')
    }
  }
  if (!c.expected.has('traj.critic.loss')) return
  yield* criticTrajectory(c, critic, params, undefined)
  if (gpu) yield* criticTrajectory(c, critic, params, gpu)
}

/** Weights that the goldens repeat. */
const copied = ({ expected }: ModelCase, name: string, actual: Float64Array): Output => ({
  actual,
  expected: expected.numbers(name),
  tolerance: 'exact',
})

interface Values {
  readonly all: ArrayLike<number>
  readonly response: ArrayLike<number>
}

function valueOutputs({ expected }: ModelCase, t: string, batch: RolloutBatch, found: Values) {
  return {
    values: expected.output(`critic.${t}.values`, found.all, batch.attention_mask),
    resp_values: expected.output(`critic.${t}.resp_values`, found.response, batch.response_mask),
  }
}

function refForward({ model }: ModelCase, params: RefArrays, batch: RolloutBatch) {
  return forwardRef(model.config, params, { ...batch, width: widthOf(batch) })
}

function valuesOfRef(c: ModelCase, params: RefArrays, batch: RolloutBatch): Values {
  const cache = refForward(c, params, batch)
  const all = valuesRef(params, cache)
  const { first_column } = refResponse(batch)
  return { all, response: readSpan(all, cache, batch.response_mask, first_column) }
}

/** The critic as the trainer makes it: it borrows an actor's batch and workspace. */
async function createCritic(
  c: ModelCase,
  model: HfModel,
  gpu: Gpu,
  batch: RolloutBatch,
  micro: number = batch.rows,
) {
  const actor = await goldenActor(c, gpu, batch, [], micro)
  const { rows, response_length } = batch
  const tensors = createCriticTensors(gpu, model.layout, { rows, response_length, updates: rows })
  const critic = await Critic.create(gpu, model.layout, tensors, actor.tensors, model.weights)
  await critic.prepare(micro, 'token-mean')
  return { actor, critic }
}

type Device = Awaited<ReturnType<typeof createCritic>>

async function valuesOfGpu(
  gpu: Gpu,
  { actor, critic }: Device,
  batch: RolloutBatch,
): Promise<Values> {
  const { rows } = batch
  const width = widthOf(batch)
  const { workspace: ws } = actor.tensors
  actor.upload(batch)
  critic.computeValues({ batch: rows, mini: rows, micro: rows })
  const data = Float32Array.from(batch.attention_mask)
  const mask = gpu.tensor('mask', 'f32', [rows, width], { data })
  const values = gpu.tensor('values', 'f32', [rows, width])
  // The workspace still holds the batch.
  const everywhere = await gpu.record('values_everywhere', [], (r) => {
    const { model } = critic.tensors
    forward(r, model, ws)
    readValues(r, model, ws, { mask, values }, { first_column: 0, response_length: width })
  })
  gpu.replay(everywhere)
  const [response, all] = await gpu.read(critic.tensors.values, values)
  return { all, response }
}

function criticGradientRef(
  c: ModelCase,
  params: RefArrays,
  t: string,
  batch: RolloutBatch,
): Gradients {
  const cliprange_value = c.expected.json.fields('critic').number('cliprange_value')
  return valueGradientRef(c, params, batch, cliprange_value, {
    values: c.expected.numbers(`in.${t}.critic_old_values`),
    returns: c.expected.numbers(`in.${t}.critic_returns`),
  })
}

function valueGradientRef(
  c: ModelCase,
  params: RefArrays,
  batch: RolloutBatch,
  cliprange_value: number,
  { values, returns }: { values: Float64Array; returns: Float64Array },
): Gradients {
  const cache = refForward(c, params, batch)
  const { first_column } = refResponse(batch)
  const { response_mask, response_length } = batch
  const vpreds = readSpan(valuesRef(params, cache), cache, response_mask, first_column)
  const { loss, d_vpreds, metrics } = valueLossRef(
    { loss_agg_mode: 'token-mean', cliprange_value },
    { vpreds, values, returns, response_mask, response_length },
  )
  const d_values = scatterSpan(d_vpreds, cache, response_mask, first_column)
  return { loss, metrics, grads: valuesBackwardRef(c.model.config, params, cache, d_values) }
}

async function criticGradientGpu(
  c: ModelCase,
  model: HfModel,
  gpu: Gpu,
  { actor, critic }: Device,
  t: string,
  batch: RolloutBatch,
): Promise<Gradients> {
  const cliprange_value = c.expected.json.fields('critic').number('cliprange_value')
  const { values, returns, gradients, value_sums } = critic.tensors
  actor.upload(batch)
  gpu.write(values, Float32Array.from(c.expected.numbers(`in.${t}.critic_old_values`)))
  gpu.write(returns, Float32Array.from(c.expected.numbers(`in.${t}.critic_returns`)))
  critic.beginStep()
  critic.trainable.clearGradients()
  const rows = { batch: batch.rows, mini: batch.rows, micro: batch.rows }
  critic.accumulate(
    batch,
    { cliprange_value, loss_agg_mode: 'token-mean' },
    rows,
    0,
    wholeMiniBatch(batch),
  )
  const [sums, flat] = await gpu.read(value_sums, gradients.flat)
  return {
    loss: sums[VALUE_LOSS_SUMS.indexOf('critic/vf_loss')],
    metrics: Object.fromEntries(VALUE_LOSS_SUMS.map((name, i) => [name, sums[i]])),
    grads: unpackWeights(model.layout, flat as Float32Array),
  }
}

/** Micro-batches are divided by the counts of their mini-batch. */
const wholeMiniBatch = ({ response_length }: RolloutBatch) => ({
  is_legacy: false,
  max_response_length: response_length,
})

/** Ten critic updates: values and GAE of each batch from the critic as it is then, two mini-batches. */
async function* criticTrajectory(
  c: ModelCase,
  model: HfModel,
  start: RefArrays,
  gpu: Gpu | undefined,
): AsyncGenerator<Check> {
  const golden = c.expected.json.fields('trajectories').fields('critic')
  const [updates] = c.expected.tensor('traj.critic.loss').shape
  const [batches, rows] = c.expected.tensor('traj.critic.returns').shape
  const mini = (rows * batches) / updates
  const { optim, grad_clip } = readOptim(c)
  const config = { gamma: golden.number('gamma'), lam: golden.number('lam') }
  const cliprange_value = golden.number('cliprange_value')
  const rewards = c.expected.numbers('traj.grpo.token_level_rewards')
  const sample = readBatch(c.expected, 'traj.grpo', 0)
  const device = gpu && (await createCritic(c, model, gpu, sample, mini))
  const reference = new RefTrainable(model.layout, model.weights)
  const series: Record<string, number[]> = {
    loss: [],
    grad_norm: [],
    vf_clipfrac: [],
    vpred_mean: [],
  }
  const arrays: Record<string, number[]> = { values_old: [], returns: [], advantages_whitened: [] }

  for (let i = 0; i < batches; i++) {
    const batch = readBatch(c.expected, 'traj.grpo', i)
    const count = batch.response_mask.length
    const values = await (async () => {
      if (!gpu || !device) return valuesOfRef(c, reference.params, batch).response
      device.actor.upload(batch)
      device.critic.computeValues({ batch: rows, mini, micro: mini })
      return (await gpu.read(device.critic.tensors.values))[0]
    })()
    const input = {
      token_level_rewards: rewards.subarray(i * count, (i + 1) * count),
      response_mask: batch.response_mask,
      response_length: batch.response_length,
      index: [],
      values,
    }
    const { advantages, returns } = computeAdvantages('gae', input, config)
    arrays.values_old.push(...Array.from(values))
    arrays.returns.push(...returns)
    arrays.advantages_whitened.push(...advantages)
    for (let first = 0; first < rows; first += mini) {
      const part = sliceBatch(batch, first, mini)
      const R = batch.response_length
      const cut = (x: ArrayLike<number>) =>
        Float64Array.from(x).subarray(first * R, (first + mini) * R)
      let found: Record<string, number>
      if (gpu && device) {
        const { critic } = device
        const { returns: to, value_sums, history } = critic.tensors
        gpu.write(to, Float32Array.from(returns))
        critic.beginStep()
        critic.trainable.clearGradients()
        const settings = { cliprange_value, loss_agg_mode: 'token-mean' } as const
        critic.accumulate(
          batch,
          settings,
          { batch: rows, mini, micro: mini },
          first,
          wholeMiniBatch(batch),
        )
        critic.trainable.apply(c.shape.num_hidden_layers, optim, grad_clip, optim.lr)
        const [sums, records] = await gpu.read(value_sums, history)
        const sum = (name: (typeof VALUE_LOSS_SUMS)[number]) => sums[VALUE_LOSS_SUMS.indexOf(name)]
        found = {
          loss: sum('critic/vf_loss'),
          vf_clipfrac: sum('critic/vf_clipfrac'),
          vpred_mean: sum('critic/vpred_mean'),
          grad_norm: records[CONTROL.indexOf('grad_norm')],
        }
      } else {
        const old = { values: cut(values), returns: cut(returns) }
        const g = valueGradientRef(c, reference.params, part, cliprange_value, old)
        const layer = c.shape.num_hidden_layers
        found = {
          loss: g.loss,
          vf_clipfrac: g.metrics['critic/vf_clipfrac'],
          vpred_mean: g.metrics['critic/vpred_mean'],
          grad_norm: reference.step(g.grads, layer, optim, grad_clip),
        }
      }
      for (const [name, value] of Object.entries(found)) series[name].push(value)
    }
  }

  const on: Place = gpu ? 'gpu' : 'reference'
  const atols = golden.fields('recommended_series_atol')
  const outputs: Record<string, Output> = {}
  for (const [name, actual] of Object.entries(series)) {
    const expected = gpu ? c.expected.numbers(`traj.critic.${name}`) : golden.vector(`${name}_fp64`)
    const tolerance = gpu ? { rtol: 0, atol: atols.number(name) } : { rtol: 1e-8, atol: 1e-8 }
    outputs[name] = { actual: Float64Array.from(actual), expected, shape: [updates], tolerance }
  }
  const mask = c.expected.numbers('traj.grpo.response_mask').subarray(0, arrays.returns.length)
  for (const [name, actual] of Object.entries(arrays))
    outputs[name] = c.expected.output(`traj.critic.${name}`, actual, mask)
  const weights = device ? await weightsOf({ model }, device.critic.trainable) : reference.params
  const l2 = golden.number('recommended_relative_l2_tolerance')
  const case_of_critic = { expected: c.expected, params: start }
  outputs['final.relative_l2'] = relativeL2(case_of_critic, weights, 'traj.critic.final.', l2)
  yield check(c, 'traj.critic', on, outputs)
}

// Reward model.

export async function* rewardChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const model = await openHead(c, 'reward')
  if (!model) return
  const params = paramsOf(model)
  const names = c.expected.names(/^reward\.[^.]+\.scores$/).map((name) => name.split('.')[1])
  for (const t of names) {
    const sequences = readSequences(c, t)
    const reference = scoresRef(c, model, params, sequences)
    yield check(c, `reward.${t}`, 'reference', {
      scores: c.expected.output(`reward.${t}.scores`, reference.scores),
    })
    const has_gradients = c.expected.names(new RegExp(`^reward\\.grad\\.${t}\\.`)).length > 0
    if (has_gradients) yield gradientCheck(c, `reward.grad.${t}`, reference, 'reference')
    const only = c.expected.json.fields('losses').names().includes(`scalar_only.reward.${t}`)
    if (only) {
      const golden = c.expected.json.fields('losses').fields(`scalar_only.reward.${t}`)
      const loss = scalar(reference.loss, golden.number('loss'), 'reference')
      yield check(c, `scalar_only.reward.${t}`, 'reference', { loss })
    }
    if (!gpu) continue
    const found = await scoresGpu(model, gpu, sequences)
    yield check(c, `reward.${t}`, 'gpu', {
      scores: c.expected.output(`reward.${t}.scores`, found.scores),
    })
    if (has_gradients) yield gradientCheck(c, `reward.grad.${t}`, found, 'gpu')
  }
}

function readSequences({ expected }: ModelCase, t: string) {
  const [rows, width] = expected.tensor(`in.reward_${t}.input_ids`).shape
  const ids = (name: string) => expected.ids(`in.reward_${t}.${name}`)
  return {
    rows,
    width,
    input_ids: ids('input_ids'),
    attention_mask: ids('attention_mask'),
    position_ids: ids('position_ids'),
  }
}

type Sequences = ReturnType<typeof readSequences>
type Scored = Gradients & { readonly scores: ArrayLike<number> }

/** The id of padding decides where a sequence is scored. */
function padOf({ pad_token_id }: HfModel): number {
  if (pad_token_id === undefined)
    throw new CaseError('reward/config.json: there is no pad_token_id')
  return pad_token_id
}

function scoresRef(c: ModelCase, model: HfModel, params: RefArrays, sequences: Sequences): Scored {
  const cache = forwardRef(c.model.config, params, sequences)
  const values = valuesRef(params, cache)
  const rows = lastRows(sequences.input_ids, sequences.width, padOf(model))
  const scores = Float64Array.from(rows, (m) => values[m])
  const { loss, accuracy, d_scores } = bradleyTerryRef(scores)
  const d_values = new Float64Array(values.length)
  rows.forEach((m, b) => {
    d_values[m] = d_scores[b]
  })
  const grads = valuesBackwardRef(c.model.config, params, cache, d_values)
  return { scores, loss, metrics: { 'reward_model/accuracy': accuracy }, grads }
}

async function scoresGpu(model: HfModel, gpu: Gpu, sequences: Sequences): Promise<Scored> {
  const { rows, width } = sequences
  const pad = padOf(model)
  const reward = await RewardModel.create(gpu, model.layout, { rows, width }, pad, model.weights)
  reward.score(sequences)
  const { score, sums, gradients } = reward.tensors
  const [scores] = await gpu.read(score.scores)
  reward.computeGradients(sequences)
  const [totals, flat] = await gpu.read(sums, gradients.flat)
  const total = (name: (typeof PREFERENCE_LOSS_SUMS)[number]) =>
    totals[PREFERENCE_LOSS_SUMS.indexOf(name)]
  return {
    scores,
    loss: total('reward_model/loss'),
    metrics: { 'reward_model/accuracy': total('reward_model/accuracy') },
    grads: unpackWeights(model.layout, flat as Float32Array),
  }
}
