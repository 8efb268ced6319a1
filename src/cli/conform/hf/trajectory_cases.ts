// Thirty optimizer steps of SFT, GRPO and BuPO: losses, norms, metrics and final weights.
import type { Gpu } from '../../../kernels/gpu.ts'
import { type AdamwState, adamw_step_ref } from '../../../kernels/optimizer/optimizer.ref.ts'
import { CONTROL } from '../../../kernels/optimizer/optimizer.ts'
import { sft_loss_ref } from '../../../kernels/policy_loss/policy_loss.ref.ts'
import { POLICY_LOSS_SUMS } from '../../../kernels/policy_loss/policy_loss.ts'
import { chunkSegments, type ParamLayout, trainedPrefix } from '../../../model/params.ts'
import {
  backwardRef,
  forwardRef,
  policyRef,
  type RefArrays,
} from '../../../model/transformer.ref.ts'
import { phaseRows } from '../../../rl/actor.ts'
import { computeAdvantages } from '../../../rl/advantages.ts'
import type { RolloutBatch } from '../../../rl/batch.ts'
import type { Optim, RlPhase } from '../../../rl/phase.ts'
import type { Fields } from '../fields.ts'
import type { Check, Output, Place } from '../report.ts'
import { PRODUCTION } from '../tolerances.ts'
import { goldenActor, goldenPhase, policyGradientRef, sftPhase } from './gradient_cases.ts'
import { check, type ModelCase, readBatch, refResponse, sliceBatch, widthOf } from './model_case.ts'

/** What a run leaves: a series per name, and weights by name at its end and after an inner phase. */
export interface Run {
  readonly series: Record<string, number[]>
  readonly old_log_probs: number[]
  readonly final: RefArrays | Record<string, Float32Array>
  readonly after_phase1?: RefArrays | Record<string, Float32Array>
}

/** A golden trajectory: its data, and which phase each of its rollout batches belongs to. */
interface Plan {
  readonly tag: string
  readonly golden: Fields
  readonly batches: number
  readonly rows: number
  readonly mini: number
  readonly optim: Optim
  readonly grad_clip: number
  readonly phaseOf: (batch: number) => RlPhase
  /** Batches of the first phase; 0 = there is only one. */
  readonly inner_batches: number
}

export function readOptim(c: ModelCase): { optim: Optim; grad_clip: number } {
  const fields = c.expected.json.fields('trajectories').fields('optimizer')
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

/** The trajectories of policies that a case has. */
export async function* trajectoryChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  if (c.expected.has('traj.sft.input_ids')) {
    yield* runChecks(c, 'sft', supervisedRef(c), 'reference')
    if (gpu) yield* runChecks(c, 'sft', await supervisedGpu(c, gpu), 'gpu')
  }
  for (const tag of ['grpo', 'bupo']) {
    if (!c.expected.has(`traj.${tag}.input_ids`)) continue
    const plan = readPlan(c, tag)
    yield advantageCheck(c, plan)
    yield* runChecks(c, tag, policyRun(c, plan), 'reference')
    if (gpu) yield* runChecks(c, tag, await policyRunGpu(c, gpu, plan), 'gpu')
  }
}

function readPlan(c: ModelCase, tag: string): Plan {
  const golden = c.expected.json.fields('trajectories').fields(tag)
  const [batches, rows] = c.expected.tensor(`traj.${tag}.input_ids`).shape
  const [updates] = c.expected.tensor(`traj.${tag}.loss`).shape
  const mini = (rows * batches) / updates
  const [clip_ratio_low, clip_ratio_high, clip_ratio_c] = golden.vector('clip')
  const { optim, grad_clip } = readOptim(c)
  const actor = { clip_ratio_low, clip_ratio_high, clip_ratio_c, optim, grad_clip }
  const whole = goldenPhase(c.shape.num_hidden_layers, { batch: rows, mini }, actor)
  const inner = goldenPhase(
    golden.has('layer_k') ? golden.number('layer_k') + 1 : c.layer,
    { batch: rows, mini },
    actor,
  )
  const inner_batches = golden.has('s_inter') ? golden.number('s_inter') : 0
  return {
    ...{ tag, golden, batches, rows, mini, optim, grad_clip, inner_batches },
    phaseOf: (batch) => (batch < inner_batches ? inner : whole),
  }
}

/** GRPO advantages of every batch from its rewards, some rows without division by the std (Dr. GRPO). */
function advantageCheck(c: ModelCase, { tag, batches, rows }: Plan): Check {
  const { expected } = c
  const golden = expected.numbers(`traj.${tag}.advantages`)
  const rewards = expected.numbers(`traj.${tag}.token_level_rewards`)
  const mask = expected.numbers(`traj.${tag}.response_mask`)
  const group = expected.numbers(`traj.${tag}.group`)
  const by_std = expected.numbers(`traj.${tag}.norm_adv_by_std`)
  const count = golden.length / batches
  const response_length = count / rows
  const actual = new Float64Array(golden.length)
  for (let i = 0; i < batches; i++) {
    const input = {
      token_level_rewards: rewards.subarray(i * count, (i + 1) * count),
      response_mask: mask.subarray(i * count, (i + 1) * count),
      response_length,
      index: group.subarray(i * rows, (i + 1) * rows),
    }
    const [with_std, without] = [true, false].map(
      (norm_adv_by_std_in_grpo) =>
        computeAdvantages('grpo', input, { norm_adv_by_std_in_grpo }).advantages,
    )
    for (let j = 0; j < count; j++) {
      const row = i * rows + Math.floor(j / response_length)
      actual[i * count + j] = by_std[row] ? with_std[j] : without[j]
    }
  }
  // The goldens' run has float32 rewards.
  const shape = [batches, rows, response_length]
  const output = { actual, expected: golden, shape, tolerance: PRODUCTION }
  return check(c, `traj.${tag}.advantages`, 'driver', { advantages: output })
}

/** Series against Hugging Face's: the float64 run for the reference, the float32 run for kernels. Weights as a whole. */
function* runChecks(c: ModelCase, tag: string, run: Run, on: Place): Generator<Check> {
  const { expected } = c
  const golden = expected.json.fields('trajectories').fields(tag)
  const atols = golden.fields('recommended_series_atol')
  const outputs: Record<string, Output> = {}
  for (const [name, actual] of Object.entries(run.series)) {
    if (!expected.has(`traj.${tag}.${name}`)) continue
    const series =
      on === 'gpu' ? expected.numbers(`traj.${tag}.${name}`) : golden.vector(`${name}_fp64`)
    // The goldens' float64 run begins from the same float32 weights: rounding alone is left.
    const atol = on === 'gpu' ? atols.number(name) : 1e-8
    outputs[name] = {
      actual: Float64Array.from(actual),
      expected: series,
      shape: [series.length],
      tolerance: { rtol: on === 'gpu' ? 0 : 1e-8, atol },
    }
  }
  if (run.old_log_probs.length > 0)
    outputs.old_log_probs = expected.output(`traj.${tag}.old_log_probs`, run.old_log_probs)
  const l2 = golden.number('recommended_relative_l2_tolerance')
  outputs['final.relative_l2'] = relativeL2(c, run.final, `traj.${tag}.final.`, l2)
  if (run.after_phase1) {
    const prefix = `traj.${tag}.after_phase1.`
    outputs['after_phase1.relative_l2'] = relativeL2(c, run.after_phase1, prefix, l2)
    outputs['after_phase1.untouched'] = untouched(c, run.after_phase1)
  }
  yield check(c, `traj.${tag}`, on, outputs)
}

/** √(Σ (x - ref)² / Σ (ref - start)²) over all parameters. */
export function relativeL2(
  c: Pick<ModelCase, 'expected' | 'params'>,
  weights: Run['final'],
  prefix: string,
  atol: number,
): Output {
  let error = 0
  let moved = 0
  for (const [name, start] of Object.entries(c.params)) {
    const golden = c.expected.numbers(`${prefix}${name}`)
    golden.forEach((x, i) => {
      error += (weights[name][i] - x) ** 2
      moved += (x - start[i]) ** 2
    })
  }
  return { actual: Math.sqrt(error / moved), expected: 0, tolerance: { rtol: 0, atol } }
}

/** Parameters above the inner layer keep their bits. */
function untouched(c: ModelCase, weights: Run['final']): Output {
  const { count } = trainedPrefix(c.model.layout, c.layer)
  const above = c.model.layout.params.filter(({ offset }) => offset >= count)
  const changed = above.filter(({ name }) => weights[name].some((x, i) => x !== c.params[name][i]))
  return { actual: changed.map(({ name }) => name), expected: [], tolerance: 'exact' }
}

const push = (series: Record<string, number[]>, values: Record<string, number>) => {
  for (const [name, value] of Object.entries(values)) {
    series[name] ??= []
    series[name].push(value)
  }
}

const trajectoryBatch = (c: ModelCase, tag: string, i: number) =>
  readBatch(c.expected, `traj.${tag}`, i)

// The float64 runs.

/** An optimizer over named float64 weights in the project's flat layout. */
export class RefTrainable {
  readonly params: RefArrays
  readonly #layout: ParamLayout
  readonly #state: AdamwState

  constructor(layout: ParamLayout, weights: Float32Array) {
    this.#layout = layout
    this.#state = {
      weights: Float64Array.from(weights),
      m: new Float64Array(layout.size),
      v: new Float64Array(layout.size),
      steps: layout.segment_ends.map(() => 0),
    }
    this.params = Object.fromEntries(
      layout.params.map(({ name, offset, size }) => [
        name,
        this.#state.weights.subarray(offset, offset + size),
      ]),
    )
  }

  /** Clips and steps; returns the norm before clipping. */
  step(
    grads: Readonly<Record<string, ArrayLike<number>>>,
    layer: number,
    optim: Optim,
    max_norm: number,
  ) {
    const flat = new Float64Array(this.#layout.size)
    for (const { name, offset } of this.#layout.params)
      if (grads[name]) flat.set(grads[name], offset)
    const { count, segments } = trainedPrefix(this.#layout, layer)
    const [beta1, beta2] = optim.betas
    const { lr, weight_decay } = optim
    const settings = { lr, beta1, beta2, eps: 1e-8, weight_decay, max_norm }
    const chunk_segment = chunkSegments(this.#layout)
    const where = { count, chunk_segment, active_segments: segments }
    return adamw_step_ref(this.#state, flat, settings, where).grad_norm
  }

  copy(): RefArrays {
    return Object.fromEntries(Object.entries(this.params).map(([name, x]) => [name, x.slice()]))
  }
}

const sftBatches = ({ expected }: ModelCase) => ({
  updates: expected.tensor('traj.sft.loss').shape[0],
  batches: expected.tensor('traj.sft.input_ids').shape[0],
})

function supervisedRef(c: ModelCase): Run {
  const { config, layout, weights } = c.model
  const { optim, grad_clip } = readOptim(c)
  const trainable = new RefTrainable(layout, weights)
  const L = config.num_hidden_layers
  const series: Record<string, number[]> = {}
  const { updates, batches } = sftBatches(c)
  for (let s = 0; s < updates; s++) {
    const batch = trajectoryBatch(c, 'sft', s % batches)
    const response = refResponse(batch)
    const cache = forwardRef(config, trainable.params, { ...batch, width: widthOf(batch) })
    const { log_probs } = policyRef(config, trainable.params, cache, L, response)
    const tokens = batch.response_mask.reduce((a, b) => a + b, 0)
    const { loss, d_log_probs } = sft_loss_ref(1 / tokens, log_probs, batch.response_mask)
    const d = { d_log_probs, d_entropy: new Float64Array(d_log_probs.length) }
    const grads = backwardRef(config, trainable.params, cache, L, { ...response, ...d })
    push(series, { loss, grad_norm: trainable.step(grads, L, optim, grad_clip) })
  }
  return { series, old_log_probs: [], final: trainable.params }
}

function policyRun(c: ModelCase, plan: Plan): Run {
  const { config, layout, weights } = c.model
  const L = config.num_hidden_layers
  const trainable = new RefTrainable(layout, weights)
  const model = { model: c.model, params: trainable.params }
  const series: Record<string, number[]> = {}
  const old_log_probs: number[] = []
  let after_phase1: RefArrays | undefined
  for (let i = 0; i < plan.batches; i++) {
    const phase = plan.phaseOf(i)
    const whole = trajectoryBatch(c, plan.tag, i)
    const old = logProbsRef(c, trainable.params, whole, phase.target_layer).log_probs
    old_log_probs.push(...old)
    for (let first = 0; first < plan.rows; first += plan.mini) {
      const batch = sliceBatch(whole, first, plan.mini)
      const R = batch.response_length
      const cut = (x: Float64Array) => x.subarray(first * R, (first + plan.mini) * R)
      const columns = { old_log_probs: cut(old), advantages: cut(advantagesOf(c, plan, i)) }
      const entropy = logProbsRef(c, trainable.params, batch, L).entropy
      const { loss, grads, metrics } = policyGradientRef(model, batch, { phase, columns })
      const tokens = batch.response_mask.reduce((a, b) => a + b, 0)
      push(series, {
        loss,
        grad_norm: trainable.step(grads, phase.target_layer, plan.optim, plan.grad_clip),
        entropy: entropy.reduce((a, b) => a + b, 0) / tokens,
        ppo_kl: metrics['actor/ppo_kl'],
        pg_clipfrac: metrics['actor/pg_clipfrac'],
        pg_clipfrac_lower: metrics['actor/pg_clipfrac_lower'],
      })
    }
    if (i + 1 === plan.inner_batches) after_phase1 = trainable.copy()
  }
  return { series, old_log_probs, final: trainable.params, ...(after_phase1 && { after_phase1 }) }
}

function logProbsRef(c: ModelCase, params: RefArrays, batch: RolloutBatch, layer: number) {
  const { config } = c.model
  const cache = forwardRef(config, params, { ...batch, width: widthOf(batch) }, { layers: layer })
  return policyRef(config, params, cache, layer, refResponse(batch))
}

function advantagesOf({ expected }: ModelCase, { tag, batches }: Plan, i: number): Float64Array {
  const all = expected.numbers(`traj.${tag}.advantages`)
  const count = all.length / batches
  return all.subarray(i * count, (i + 1) * count)
}

// The trainer's own runs.

const record = (records: ArrayLike<number>, name: (typeof CONTROL)[number]) =>
  records[CONTROL.indexOf(name)]

async function supervisedGpu(c: ModelCase, gpu: Gpu): Promise<Run> {
  const { optim, grad_clip } = readOptim(c)
  const { updates, batches } = sftBatches(c)
  const first = trajectoryBatch(c, 'sft', 0)
  const actor = await goldenActor(c, gpu, first, [sftPhase(first.rows)])
  const series: Record<string, number[]> = {}
  for (let s = 0; s < updates; s++) {
    const batch = trajectoryBatch(c, 'sft', s % batches)
    actor.beginStep()
    actor.upload(batch)
    actor.updateSupervised(batch, batch.rows, optim, grad_clip, optim.lr)
    const [sums, records] = await gpu.read(actor.tensors.sums, actor.tensors.history)
    push(series, { loss: sums[0], grad_norm: record(records, 'grad_norm') })
  }
  return { series, old_log_probs: [], final: await weightsOf(c, actor) }
}

async function policyRunGpu(c: ModelCase, gpu: Gpu, plan: Plan): Promise<Run> {
  const phases = [...new Set([plan.phaseOf(0), plan.phaseOf(plan.batches - 1)])]
  const sample = trajectoryBatch(c, plan.tag, 0)
  const actor = await goldenActor(c, gpu, sample, phases, plan.mini)
  const { tensors, trainable } = actor
  const L = c.shape.num_hidden_layers
  const series: Record<string, number[]> = {}
  const old_log_probs: number[] = []
  let after_phase1: Record<string, Float32Array> | undefined
  for (let i = 0; i < plan.batches; i++) {
    const phase = plan.phaseOf(i)
    const batch = trajectoryBatch(c, plan.tag, i)
    const rows = phaseRows(phase, widthOf(batch))
    actor.upload(batch, { advantages: Float32Array.from(advantagesOf(c, plan, i)) })
    actor.computeLogProbs(phase, rows)
    // One update at a time, as Actor.updatePolicy does them, to read each one's numbers.
    for (let first = 0; first < plan.rows; first += plan.mini) {
      const mini = sliceBatch(batch, first, plan.mini)
      actor.beginStep()
      actor.uploadProbe(mini)
      actor.probe()
      trainable.clearGradients()
      actor.accumulate(batch, phase, rows, first, i)
      trainable.apply(phase.target_layer, plan.optim, plan.grad_clip, plan.optim.lr)
      const [sums, records, entropies] = await gpu.read(
        tensors.sums,
        tensors.history,
        tensors.probe_sums,
      )
      const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
      const tokens = mini.response_mask.reduce((a, b) => a + b, 0)
      push(series, {
        loss: sum('actor/pg_loss'),
        grad_norm: record(records, 'grad_norm'),
        entropy: entropies[L] / tokens,
        ppo_kl: sum('actor/ppo_kl'),
        pg_clipfrac: sum('actor/pg_clipfrac'),
        pg_clipfrac_lower: sum('actor/pg_clipfrac_lower'),
      })
    }
    const [old] = await gpu.read(tensors.batch.old_log_probs)
    old_log_probs.push(...old)
    if (i + 1 === plan.inner_batches) after_phase1 = await weightsOf(c, actor)
  }
  const final = await weightsOf(c, actor)
  return { series, old_log_probs, final, ...(after_phase1 && { after_phase1 }) }
}

/** All weights by name. */
export async function weightsOf(
  { model }: Pick<ModelCase, 'model'>,
  trainable: { exportWeights(): Promise<Float32Array> },
): Promise<Record<string, Float32Array>> {
  const flat = await trainable.exportWeights()
  return Object.fromEntries(
    model.layout.params.map(({ name, offset, size }) => [name, flat.slice(offset, offset + size)]),
  )
}
