// Computes the updates of one step in float64: all mini-batches and epochs of the critic and of the
// actor, and what they report.
import { klLossRef } from '../../kernels/kl/kl.ref.ts'
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import { rolloutCorrectionRef } from '../../kernels/rollout_correction/rollout_correction.ref.ts'
import { valueLossRef } from '../../kernels/value_loss/value_loss.ref.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import { policyRef } from '../../model/transformer/policy.ref.ts'
import {
  readSpan,
  scatterSpan,
  valuesBackwardRef,
  valuesRef,
} from '../../model/transformer/value.ref.ts'
import { innerStudents } from '../config/inner.ts'
import { chosenRows, type RolloutBatch, sequenceCount, tokenCount } from '../experience/batch.ts'
import { correctionParams } from '../experience/rollout_correction.ts'
import { addInnerRef, type RefPhase } from '../learners/inner.ref.ts'
import { objectiveOf } from '../learners/objective.ts'
import { policyBackwardRef } from '../learners/policy_backward.ref.ts'
import { policyLossOf } from '../losses/losses.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'
import { isHighEntropy } from '../losses/trl_masks.ref.ts'
import type { RowOrder } from '../math/shuffle.ts'
import { type Learner, mean, rowsOf } from './learner.ref.ts'

type Numbers = ArrayLike<number>

/** Mini-batches of all epochs, in order: the batch and its columns as the epoch goes through them,
 * and their first row. */
function miniBatches<N extends string>(
  { actor, critic, rollout }: RefPhase,
  whose: 'actor' | 'critic',
  batch: RolloutBatch,
  columns: Readonly<Record<N, Numbers>>,
  order: RowOrder | undefined,
) {
  const own = whose === 'critic' ? critic : actor
  const prompts = own.ppo_mini_batch_size ?? actor.ppo_mini_batch_size
  const mini = prompts * rollout.n
  const R = batch.response_length
  const epochs = Array.from({ length: own.ppo_epochs ?? actor.ppo_epochs }, (_, epoch) => {
    const rows = order?.(epoch) ?? Array.from({ length: batch.rows }, (_, b) => b)
    const passed = { batch: chosenRows(batch, rows), cut: cutOf(columns, rows, R) }
    const firsts = Array.from({ length: batch.rows / mini }, (_, i) => i * mini)
    return firsts.map((first) => ({
      batch: passed.batch,
      first,
      cut: (name: N) => passed.cut(name).subarray(first * R, (first + mini) * R),
    }))
  })
  return { mini, passes: epochs.flat() }
}

/** A column with its rows in this order. */
const cutOf =
  <N extends string>(columns: Readonly<Record<N, Numbers>>, rows: readonly number[], R: number) =>
  (name: N): Float64Array =>
    Float64Array.from(
      rows.flatMap((row) => Array.from({ length: R }, (_, t) => columns[name][row * R + t])),
    )

/** The critic's; verl's names. */
export function updateCritic(
  critic: Learner,
  config: ModelConfig,
  phase: RefPhase,
  whole: RolloutBatch,
  columns: Readonly<Record<'values' | 'returns', Numbers>>,
  order?: RowOrder,
): Record<string, number> {
  const { mini, passes } = miniBatches(phase, 'critic', whole, columns, order)
  const { response_length: R } = whole
  const sums: Record<string, number> = {}
  const norms: number[] = []
  for (const { batch, first, cut } of passes) {
    if (tokenCount(batch, first, mini) === 0) continue
    const rows = rowsOf(batch, phase, first, mini)
    const cache = critic.forward(rows)
    const vpreds = readSpan(
      valuesRef(critic.params, cache),
      cache,
      rows.response_mask,
      rows.first_column,
    )
    const counts = {
      batch_num_tokens: tokenCount(batch, first, mini),
      global_batch_size: sequenceCount(batch, first, mini),
      loss_scale_factor: phase.rollout.max_response_length,
    }
    const { d_vpreds, metrics } = valueLossRef(
      { ...phase.critic, ...counts },
      {
        vpreds,
        response_mask: rows.response_mask,
        response_length: R,
        values: cut('values'),
        returns: cut('returns'),
      },
    )
    for (const [name, x] of Object.entries(metrics)) sums[name] = (sums[name] ?? 0) + x
    const d_values = scatterSpan(d_vpreds, cache, rows.response_mask, rows.first_column)
    const grads = valuesBackwardRef(config, critic.params, cache, d_values)
    const { optim, grad_clip } = phase.critic
    const wholeModel = { target_layer: config.num_hidden_layers }
    norms.push(critic.apply(grads, wholeModel, optim, grad_clip))
  }
  return {
    'critic/vf_loss': sums['critic/vf_loss'],
    'critic/vf_clipfrac': sums['critic/vf_clipfrac'] / norms.length,
    'critic/vpred_mean': sums['critic/vpred_mean'] / norms.length,
    'critic/grad_norm': mean(norms),
    'critic/skipped_updates': 0,
    'critic/lr': phase.critic.optim.lr,
  }
}

/** The seed of what clip_cov leaves to chance, of a mini-batch in one piece. */
const callSeed = (step: number, update: number, row: number): number =>
  Math.imul(Math.imul(step, 65_537) + update, 8191) + row

type ActorColumn = 'old_log_probs' | 'ref_log_prob' | 'advantages' | 'rollout_is_weights'
type Pass = ReturnType<typeof miniBatches<ActorColumn>>['passes'][number]

/** The tokens that an update is about where it leaves out those of low entropy. */
function ofHighEntropy({ actor }: RefPhase, entropies: Numbers, mask: Numbers) {
  // The threshold can be one of them, and is float32.
  const rounded = Float32Array.from(entropies)
  const kept = isHighEntropy(actor, { entropies: rounded, mask })
  const counted = kept.filter((_, i) => mask[i] !== 0)
  return {
    share: counted.filter(Boolean).length / counted.length,
    cut: (weights: Numbers) => Float64Array.from(weights, (w, i) => (kept[i] ? w : 0)),
  }
}

/** The metrics of inner layers that learn along, in their order. */
const innerNames = ({ actor: { inner } }: RefPhase): string[] =>
  innerStudents(inner).map(({ layer }) => {
    const isOwn = inner.objective === 'deep_supervision'
    return `actor/${isOwn ? 'inner_pg_loss' : 'inner_divergence'}/${layer}`
  })

/** Loss and gradients of one mini-batch; adds what is reported to `sums`. */
function actorPass(
  { actor, config, innerOld }: ActorRun,
  phase: RefPhase,
  { batch, first, cut }: Pass,
  mini: number,
  seed: number,
  sums: Record<string, number>,
) {
  const add = (name: string, x: number) => {
    sums[name] = (sums[name] ?? 0) + x
  }
  const R = batch.response_length
  const all = tokenCount(batch, first, mini)
  const { loss_mode, bypass } = objectiveOf(phase)
  const { loss_agg_mode, use_kl_loss, kl_loss_coef, kl_loss_type } = phase.actor
  const rows = rowsOf(batch, phase, first, mini)
  const cache = actor.forward(rows)
  const { log_probs, entropy } = policyRef(config, actor.params, cache, phase.target_layer, rows)
  let policyMask: Numbers = rows.response_mask
  let rollout_is_weights: Numbers = cut('rollout_is_weights')
  if (bypass) {
    const found = rolloutCorrectionRef(correctionParams(bypass), {
      log_probs,
      rollout_log_probs: cut('old_log_probs'),
      response_mask: rows.response_mask,
      response_length: R,
    })
    policyMask = found.modified_mask
    rollout_is_weights = found.rollout_is_weights
    for (const [name, x] of Object.entries(found.metrics)) add(name, x)
  }
  const counts = {
    loss_agg_mode,
    batch_num_tokens: all,
    global_batch_size: mini,
    loss_scale_factor: phase.actor.loss_scale_factor ?? phase.rollout.max_response_length,
  }
  const chosen = ofHighEntropy(phase, entropy, rows.response_mask)
  rollout_is_weights = chosen.cut(rollout_is_weights)
  const policy = policyLossRef(
    loss_mode,
    { ...phase.actor, ...counts, seed },
    {
      log_probs,
      rollout_is_weights,
      response_mask: policyMask,
      response_length: R,
      old_log_probs: cut('old_log_probs'),
      advantages: cut('advantages'),
    },
  )
  const loss_weights = aggregationWeights(rows.response_mask, R, counts)
  const kl = klLossRef(
    { kl_loss_type, kl_loss_coef: use_kl_loss ? kl_loss_coef : 0 },
    { log_probs, ref_log_prob: cut('ref_log_prob'), loss_weights },
  )
  add('actor/pg_loss', policy.loss)
  add('actor/kl_loss', kl.loss)
  // What bypass mode rejects counts as 0 in these means.
  const kept = Array.from(policyMask).reduce((a, b) => a + b, 0) / all
  for (const [name, x] of Object.entries(policy.metrics)) add(name, x * kept)
  const d_log_probs = policy.d_log_probs.map((d, i) => d + kl.d_log_probs[i])
  const entropyWeights = chosen.cut(loss_weights).map((w) => w / chosen.share)
  const scored = { entropy, loss_weights: entropyWeights, d_log_probs }
  const { grads } = policyBackwardRef(config, actor.params, cache, phase, rows, scored)
  const settings = { ...phase.actor, ...counts }
  const along = addInnerRef(config, actor.params, cache, settings, {
    response: rows,
    advantages: cut('advantages'),
    old: innerOld.map((own) => own.subarray(first * R, (first + mini) * R)),
    loss_weights,
    rollout_is_weights,
    grads,
  })
  for (const [i, name] of innerNames(phase).entries()) add(name, along[i])
  return grads
}

interface ActorRun {
  readonly actor: Learner
  readonly config: ModelConfig
  /** Of the whole batch, whose rows keep their order where these are asked for. */
  readonly innerOld: readonly Float64Array[]
}

/** The actor's, on what the driver made of the batch; verl's names. */
export function updateActor(
  run: ActorRun & { readonly reference: Float64Array; passes: number },
  phase: RefPhase,
  whole: RolloutBatch,
  columns: Readonly<Record<ActorColumn, Numbers>>,
  step: number,
  order?: RowOrder,
): Record<string, number> {
  const { mini, passes } = miniBatches(phase, 'actor', whole, columns, order)
  const { optim, grad_clip } = phase.actor
  const sums: Record<string, number> = {}
  const norms: number[] = []
  for (const pass of passes) {
    run.passes++
    if (tokenCount(pass.batch, pass.first, mini) > 0) {
      const seed = callSeed(step, norms.length, pass.first)
      const grads = actorPass(run, phase, pass, mini, seed, sums)
      norms.push(run.actor.apply(grads, phase, optim, grad_clip))
    }
    const { sync_ref_model, ref_model_sync_steps, ref_model_mixup_alpha: alpha } = phase.actor
    if (!sync_ref_model || run.passes % ref_model_sync_steps !== 0) continue
    const { weights } = run.actor.state
    for (const [i, old] of run.reference.entries())
      run.reference[i] = alpha * weights[i] + (1 - alpha) * old
  }
  return norms.length === 0 ? {} : actorReport(phase, sums, norms)
}

function actorReport(
  phase: RefPhase,
  sums: Readonly<Record<string, number>>,
  norms: readonly number[],
): Record<string, number> {
  const { loss_mode, bypass } = objectiveOf(phase)
  const { use_kl_loss, kl_loss_coef, optim } = phase.actor
  const metrics: Record<string, number> = {
    'actor/pg_loss': sums['actor/pg_loss'],
    'actor/grad_norm': mean(norms),
    'actor/lr': optim.lr,
  }
  for (const name of policyLossOf(loss_mode).metrics) metrics[name] = sums[name] / norms.length
  for (const name of innerNames(phase)) metrics[name] = sums[name]
  if (use_kl_loss) {
    metrics['actor/kl_loss'] = sums['actor/kl_loss']
    metrics['actor/kl_coef'] = kl_loss_coef
  }
  if (bypass) {
    const isWeighted = bypass.rollout_is !== null
    const reported = [
      'kl',
      ...(bypass.rollout_rs === null ? [] : ['rollout_rs_masked_fraction']),
      ...(isWeighted ? ['rollout_is_mean'] : []),
      ...(isWeighted && bypass.rollout_is_batch_normalize ? ['rollout_is_batch_norm_factor'] : []),
    ].map((name) => `rollout_corr/${name}`)
    for (const name of reported) metrics[name] = sums[name] / norms.length
  }
  return metrics
}
