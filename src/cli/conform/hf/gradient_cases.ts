// Gradients of every parameter, by the actor's own programs and by the float64 reference.
import { type Gpu } from '../../../kernels/gpu.ts'
import { klLossRef } from '../../../kernels/kl/kl.ref.ts'
import {
  aggregationWeights,
  entropyLossRef,
  policyLossRef,
  sft_loss_ref,
} from '../../../kernels/policy_loss/policy_loss.ref.ts'
import { POLICY_LOSS_METRICS, POLICY_LOSS_SUMS } from '../../../kernels/policy_loss/policy_loss.ts'
import { trainedPrefix, unpackWeights } from '../../../model/params.ts'
import {
  backwardRef,
  forwardRef,
  policyRef,
  type RefArrays,
} from '../../../model/transformer.ref.ts'
import { Actor, type BatchColumns, phaseRows } from '../../../rl/actor.ts'
import type { RolloutBatch } from '../../../rl/batch.ts'
import {
  ACTOR_DEFAULTS,
  ALGORITHM_DEFAULTS,
  CRITIC_DEFAULTS,
  type RlPhase,
} from '../../../rl/phase.ts'
import type { Fields } from '../fields.ts'
import type { Check, Output, Place } from '../report.ts'
import {
  check,
  globalNorm,
  type ModelCase,
  readBatch,
  refResponse,
  scalar,
  widthOf,
} from './model_case.ts'

const OPTIM = {
  ...CRITIC_DEFAULTS.optim,
  lr: 1e-3,
}

/** A reinforcement phase of `rows` rows, `mini` at a time; one response per prompt, so that rows are prompts. */
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
      top_k: -1,
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
    critic: CRITIC_DEFAULTS,
    algorithm: ALGORITHM_DEFAULTS,
  }
}

/** An actor with the case's weights and room for such batches. */
export function goldenActor(
  { model }: ModelCase,
  gpu: Gpu,
  batch: RolloutBatch,
  phases: Parameters<typeof Actor.create>[3],
  micro_rows: number = batch.rows,
): Promise<Actor> {
  const size = {
    prompt_length: batch.prompt_length,
    response_length: batch.response_length,
    batch_rows: batch.rows,
    micro_rows,
    updates: batch.rows,
    probe_rows: Math.min(micro_rows, batch.rows),
    has_reference: true,
  }
  return Actor.create(gpu, model.layout, size, phases, model.weights)
}

export const sftPhase = (batch_size: number) =>
  ({ kind: 'sft', name: 'golden', steps: 1, batch_size, grad_clip: 1, optim: OPTIM }) as const

interface Loss {
  readonly phase: RlPhase
  /** Per-token arrays that the loss needs beside ids and mask, [B, R]. */
  readonly columns: Record<string, Float64Array>
}

/** The losses of the goldens as phases of the trainer; `ce` is a supervised step and not among them. */
function lossOf(c: ModelCase, t: string, name: string, batch: RolloutBatch): Loss {
  const { expected } = c
  const { num_hidden_layers: L } = c.shape
  const ppo = expected.json.fields('ppo')
  const rows = { batch: batch.rows, mini: batch.rows }
  const clip = {
    clip_ratio_low: ppo.number('clip_ratio_low'),
    clip_ratio_high: ppo.number('clip_ratio_high'),
    clip_ratio_c: ppo.number('clip_ratio_c'),
  }
  const column = (key: string) => expected.numbers(`in.${t}.${key}`)
  const both = { old_log_probs: column('old_log_probs'), advantages: column('advantages') }
  if (name === 'ppo') return { phase: goldenPhase(L, rows, clip), columns: both }
  if (name === 'ppo_ent') {
    const entropy_coeff = ppo.number('entropy_coeff')
    return { phase: goldenPhase(L, rows, { ...clip, entropy_coeff }), columns: both }
  }
  if (name === 'ppo_layer_k')
    return {
      phase: goldenPhase(c.layer, rows, clip),
      columns: {
        old_log_probs: column('old_log_probs_layer_k'),
        advantages: column('advantages_layer_k'),
      },
    }
  if (name === 'kl') {
    // Without advantages only the KL term is left.
    const zeros = new Float64Array(batch.response_mask.length)
    const kl = { use_kl_loss: true, kl_loss_coef: 1, kl_loss_type: 'low_var_kl' } as const
    return {
      phase: goldenPhase(L, rows, kl),
      columns: { ref_log_prob: column('ref_log_prob'), old_log_probs: zeros, advantages: zeros },
    }
  }
  throw new RangeError(`unknown: there is no loss called ${name}`)
}

interface Computed {
  readonly loss: number
  readonly grads: Readonly<Record<string, ArrayLike<number>>>
  readonly metrics: Readonly<Record<string, number>>
}

/** All gradients of all batches. */
export async function* gradientChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const found = c.expected.names(/^grad\./).map((name) => name.split('.').slice(1, 3).join('/'))
  for (const key of new Set(found)) {
    const [t, name] = key.split('/')
    const batch = readBatch(c.expected, `in.${t}`)
    const golden = c.expected.json.fields('losses').fields(`grad.${t}.${name}`)
    const title = `grad.${t}.${name}`
    const emit = (computed: Computed, on: Place) =>
      check(c, title, on, gradientOutputs(c, title, golden, computed, on))
    if (name === 'ce') {
      yield emit(supervisedRef(c, batch), 'reference')
      if (gpu) yield emit(await supervisedGpu(c, gpu, batch), 'gpu')
      continue
    }
    const loss = lossOf(c, t, name, batch)
    yield emit(policyGradientRef(c, batch, loss), 'reference')
    if (gpu) yield emit(await policyGradientGpu(c, gpu, batch, loss), 'gpu')
  }
  yield* totalChecks(c)
}

/** scalar_only.<t>.ppo_total: the loss with all its terms. */
function* totalChecks(c: ModelCase): Generator<Check> {
  const losses = c.expected.json.fields('losses')
  for (const title of losses.names().filter((name) => /^scalar_only\..*\.ppo_total$/.test(name))) {
    const [, t] = title.split('.')
    const batch = readBatch(c.expected, `in.${t}`)
    const { phase, columns } = lossOf(c, t, 'ppo_ent', batch)
    const ref_log_prob = c.expected.numbers(`in.${t}.ref_log_prob`)
    const actor = { ...phase.actor, use_kl_loss: true, kl_loss_coef: 0.05 }
    const whole = { phase: { ...phase, actor }, columns: { ...columns, ref_log_prob } }
    const { loss } = policyGradientRef(c, batch, whole)
    const expected = losses.fields(title).number('loss')
    yield check(c, title, 'reference', { loss: scalar(loss, expected, 'reference') })
  }
}

function gradientOutputs(
  c: ModelCase,
  title: string,
  golden: Fields,
  { loss, grads, metrics }: Computed,
  on: Place,
): Record<string, Output> {
  const outputs: Record<string, Output> = { loss: scalar(loss, golden.number('loss'), on) }
  const norm = globalNorm(grads)
  outputs.grad_norm = scalar(norm, golden.number('grad_norm'), on)
  const prefix = `${title}.`
  for (const name of c.expected.names(/./).filter((name) => name.startsWith(prefix)))
    outputs[name.slice(prefix.length)] = c.expected.output(
      name,
      grads[name.slice(prefix.length)] ?? [],
    )
  // Parameters without a gradient are absent, not zero.
  const without = golden.raw('params_with_grad_none')
  outputs.params_with_grad_none = {
    actual: c.model.layout.params
      .map(({ name }) => name)
      .filter((name) => !(name in grads))
      .sort(),
    expected: Array.isArray(without) ? [...without].sort() : without,
    tolerance: 'exact',
  }
  const known = golden.fields('metrics')
  for (const name of known.names()) {
    const found =
      name === 'pg_loss' || name === 'entropy' ? metrics[`actor/${name}`] : metrics[name]
    outputs[`metrics.${name}`] = scalar(found, known.number(name), on)
  }
  return outputs
}

function supervisedRef(c: ModelCase, batch: RolloutBatch): Computed {
  const { config } = c.model
  const layer = config.num_hidden_layers
  const response = refResponse(batch)
  const cache = forwardRef(config, c.params, { ...batch, width: widthOf(batch) })
  const { log_probs } = policyRef(config, c.params, cache, layer, response)
  const tokens = batch.response_mask.reduce((a, b) => a + b, 0)
  const { loss, d_log_probs } = sft_loss_ref(1 / tokens, log_probs, batch.response_mask)
  const d_entropy = new Float64Array(d_log_probs.length)
  const grads = backwardRef(config, c.params, cache, layer, { ...response, d_log_probs, d_entropy })
  return { loss, grads, metrics: {} }
}

async function supervisedGpu(c: ModelCase, gpu: Gpu, batch: RolloutBatch): Promise<Computed> {
  const actor = await goldenActor(c, gpu, batch, [sftPhase(batch.rows)])
  actor.beginStep()
  actor.upload(batch)
  actor.trainable.clearGradients()
  actor.accumulateSupervised(batch, batch.rows)
  const [sums, flat] = await gpu.read(actor.tensors.sums, actor.tensors.gradients.flat)
  return {
    loss: sums[0],
    grads: named(c, flat as Float32Array, c.shape.num_hidden_layers),
    metrics: {},
  }
}

/** Gradients by name of the parameters that the policy of `layer` trains. */
export function named(
  { model }: ModelCase,
  flat: Float32Array,
  layer: number,
): Record<string, Float32Array> {
  const { count } = trainedPrefix(model.layout, layer)
  const all = unpackWeights(model.layout, flat)
  return Object.fromEntries(
    model.layout.params.filter(({ offset }) => offset < count).map(({ name }) => [name, all[name]]),
  )
}

const loss_of = (sums: ArrayLike<number>, actor: RlPhase['actor']) => {
  const sum = (name: (typeof POLICY_LOSS_SUMS)[number]) => sums[POLICY_LOSS_SUMS.indexOf(name)]
  const kl = actor.use_kl_loss ? actor.kl_loss_coef * sum('actor/kl_loss') : 0
  return sum('actor/pg_loss') - actor.entropy_coeff * sum('actor/entropy') + kl
}

async function policyGradientGpu(
  c: ModelCase,
  gpu: Gpu,
  batch: RolloutBatch,
  { phase, columns }: Loss,
): Promise<Computed> {
  const actor = await goldenActor(c, gpu, batch, [phase])
  const rows = phaseRows(phase, widthOf(batch))
  actor.beginStep()
  const uploaded = Object.entries(columns).map(([name, x]) => [name, Float32Array.from(x)])
  actor.upload(batch, Object.fromEntries(uploaded) as BatchColumns)
  actor.trainable.clearGradients()
  actor.accumulate(batch, phase, rows, 0, 1)
  const [sums, flat] = await gpu.read(actor.tensors.sums, actor.tensors.gradients.flat)
  return {
    loss: loss_of(sums, phase.actor),
    grads: named(c, flat as Float32Array, phase.target_layer),
    metrics: Object.fromEntries(POLICY_LOSS_SUMS.map((name, i) => [name, sums[i]])),
  }
}

/** The same loss and its gradients in float64. */
export function policyGradientRef(
  { model: { config }, params }: { model: ModelCase['model']; params: RefArrays },
  batch: RolloutBatch,
  { phase, columns }: Loss,
): Computed {
  const { actor, target_layer } = phase
  const response = refResponse(batch)
  const width = widthOf(batch)
  const cache = forwardRef(config, params, { ...batch, width }, { layers: target_layer })
  const { log_probs, entropy } = policyRef(config, params, cache, target_layer, response)
  const { response_mask, response_length } = batch
  const weights = aggregationWeights(response_mask, response_length, actor)
  const policy = policyLossRef(actor.loss_mode, actor, {
    log_probs,
    old_log_probs: columns.old_log_probs,
    advantages: columns.advantages,
    response_mask,
    response_length,
  })
  const bonus = entropyLossRef(actor.entropy_coeff, entropy, weights)
  const penalty = actor.use_kl_loss
    ? klLossRef(actor, { log_probs, ref_log_prob: columns.ref_log_prob, loss_weights: weights })
    : { loss: 0, d_log_probs: new Float64Array(log_probs.length) }
  const d_log_probs = policy.d_log_probs.map((d, i) => d + penalty.d_log_probs[i])
  const d_entropy = bonus.d_entropy
  const grads = backwardRef(config, params, cache, target_layer, {
    ...response,
    d_log_probs,
    d_entropy,
  })
  const kl = actor.use_kl_loss ? actor.kl_loss_coef * penalty.loss : 0
  return {
    loss: policy.loss - actor.entropy_coeff * bonus.entropy + kl,
    grads,
    metrics: {
      ...policy.metrics,
      'actor/pg_loss': policy.loss,
      'actor/entropy': bonus.entropy,
    },
  }
}

/** What verl reports of a vanilla loss. */
export const VANILLA_METRICS = POLICY_LOSS_METRICS.vanilla
