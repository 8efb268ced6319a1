// Shows one step token by token: what was sampled, scored, compared and trained on, as plain
// numbers for people.

import { klPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { RlPhase } from '../config/phase.ts'
import { estimatorOf } from '../estimators/advantages.ts'
import { rowScores } from '../estimators/estimator.ts'
import { batchStd } from '../estimators/grpo_batch_std.ts'
import { type RolloutBatch, tokenCount } from '../experience/batch.ts'
import { type DrawnBatch, type RewardParts, rewardPartsOf } from '../experience/drawn_batch.ts'
import type { Experience } from '../experience/experience.ts'
import type { BatchRows } from '../learners/base/batch_rows.ts'
import { objectiveOf } from '../learners/objective.ts'
import { type LossMode, numbersOf, policyLossOf } from '../losses/losses.ts'
import { atLevel } from '../losses/sequence_level.ts'
import { maskedMean, maskedVar } from '../math/masked.ts'
import type { LayersOfTable, TokenLayers, TracedLayers } from './token_layers.ts'
import type { TraceColumn } from './trace_columns.ts'

/** What there can be to say of one token; nats where they are logarithms. The names are verl's;
 * `ratio` and `clipped` are those of its losses.
 *
 * old_log_probs: of the policy before this step's updates, or of the rollout's in bypass mode.
 * log_probs, entropy: as the last optimizer step that saw this response found them, before it
 * changed anything; log_probs_after: after all of them. ratio = exp(log_probs - old_log_probs).
 * reward_kl: each token's KL in the reward; kld: the KL in the loss. clipped: see `Clipped`.
 * chosen: 1 where clip_cov or kl_cov chose the token, else 0. response_mask: 0 where rejection took
 * the token out. */
const TOKEN_COLUMNS = [
  'token_level_scores',
  'old_log_probs',
  'ref_log_prob',
  'values',
  'reward_kl',
  'token_level_rewards',
  'advantages',
  'returns',
  'log_probs',
  'ratio',
  'clipped',
  'chosen',
  'kld',
  'entropy',
  'log_probs_after',
  'rollout_is_weights',
  'response_mask',
] as const
export type TokenColumn = (typeof TOKEN_COLUMNS)[number]

/** One response of a traced step. */
export interface TracedSample extends RewardParts {
  readonly prompt: string
  readonly response: string
  readonly ground_truth: string
  /** What is trained on: the task's score or the reward model's. */
  readonly score: number
  readonly is_ended: boolean
  /** As text, the end token included. */
  readonly tokens: readonly string[]
  /** Places of tokens that a tool wrote, where rows have several turns. */
  readonly observed?: readonly number[]
  /** A number for every token; a column that this step did not compute is absent, NaN where a
   * single token has none. */
  readonly columns: Readonly<Partial<Record<TokenColumn, readonly number[]>>>
  /** The responses to the same prompt: the sums of their rewards, their tokens that count, and
   * which one this is. */
  readonly group: {
    readonly rewards: readonly number[]
    readonly lengths: readonly number[]
    readonly place: number
  }
  /** Entropies of every layer's policy with the weights after this step; where they were asked
   * for. */
  readonly layer_entropy?: TokenLayers
  /** ReMax: the score of a greedy response to the prompt. */
  readonly reward_baseline?: number
}

/** A traced step. */
export interface TokenTable {
  /** The settings it was taken with. */
  readonly phase: RlPhase
  /** The policy loss in force; bypass mode has its own. */
  readonly loss_mode: LossMode
  /** β that was applied to the KL in the reward. */
  readonly kl_coef?: number
  /** Responses of the batch, and how many of them had another reward than 0. */
  readonly rows: number
  readonly nonzero_rewards: number
  /** The spread of the rewards of all responses; tables of older runs have none. */
  readonly reward_std?: number
  /** What the advantages of estimators that whiten were brought to 0 and 1 from, over the batch's
   * tokens. */
  readonly whitened?: { readonly mean: number; readonly std: number }
  /** Optimizer steps of the actor. */
  readonly updates: number
  /** Where the entropies of the layers were asked for. */
  readonly layers?: LayersOfTable
  /** As they were sampled; the first MAX_TRACED of the batch. */
  readonly samples: readonly TracedSample[]
}

/** Most responses that a table shows. */
const MAX_TRACED = 256

/** What a table is made of; arrays are [B, R], rows as they were trained on. */
export interface TraceInput {
  readonly phase: RlPhase
  readonly drawn: Pick<
    DrawnBatch,
    | 'columns'
    | 'problems'
    | 'batch'
    | 'samples'
    | 'texts'
    | 'scores'
    | 'token_level_scores'
    | 'index'
    | 'order'
    | 'reward_baselines'
  >
  readonly experience: Experience
  /** The batch with the mask that was trained on. */
  readonly trained: RolloutBatch
  readonly rows: BatchRows
  /** The order of the rows in the last epoch, where they were shuffled. */
  readonly order?: readonly number[] | undefined
  readonly updates: number
  readonly read: Readonly<Partial<Record<TraceColumn, Float32Array>>>
  /** The text of every token id. */
  readonly tokens: readonly string[]
}

type Columns = { [name in TokenColumn]?: ArrayLike<number> | undefined }

/** Mean and standard deviation as maskedWhiten takes them; undefined for fewer than two tokens. */
function whitening(
  input: TraceInput,
  rewards: Float64Array,
): { whitened: { mean: number; std: number } } | undefined {
  const { phase, experience, read, drawn } = input
  const { returns } = experience
  const before = estimatorOf(phase.adv_estimator).whitened?.({
    returns,
    values: read.values,
    scores: rewards,
    index: drawn.index,
  })
  const mask = input.trained.response_mask
  if (!before || tokenCount(input.trained) < 2) return undefined
  const std = Math.sqrt(maskedVar(before, mask) + 1e-8)
  return { whitened: { mean: maskedMean(before, mask), std } }
}

/** Whether the actor took an optimizer step on a row: not in a critic's warm-up, nor where all of
 * its mini-batch was rejected. */
function wasUpdated({ trained, rows, updates, order }: TraceInput, row: number): boolean {
  const place = order ? order.indexOf(row) : row
  const first = place - (place % rows.mini)
  const mini = Array.from({ length: rows.mini }, (_, i) => order?.[first + i] ?? first + i)
  return updates > 0 && mini.some((b) => tokenCount(trained, b, 1) > 0)
}

/** The columns of a row as they were read or computed, each of R. */
function rowColumns(input: TraceInput, row: number): Columns {
  const { phase, drawn, experience, trained, read } = input
  const { algorithm, actor } = phase
  const R = trained.response_length
  const of = (values: Float32Array | Float64Array | undefined) =>
    values?.subarray(row * R, (row + 1) * R)
  const isUpdated = wasUpdated(input, row)
  const old_log_probs = of(read.old_log_probs)
  const ref_log_prob = of(read.ref_log_prob)
  const log_probs = isUpdated ? of(read.log_probs) : undefined
  const kl = (kind: typeof algorithm.kl_penalty, policy: Float32Array | Float64Array | undefined) =>
    policy &&
    ref_log_prob &&
    Array.from(policy, (p, t) => klPenalty(kind, p, ref_log_prob[t]).value)
  const { bypass_mode, rollout_is } = algorithm.rollout_correction
  const weights = bypass_mode && isUpdated ? read.rollout_is_weights : undefined
  const modifiedMask = bypass_mode && isUpdated ? read.modified_mask : undefined
  return {
    old_log_probs,
    ref_log_prob,
    values: of(read.values),
    token_level_scores: of(drawn.token_level_scores),
    reward_kl: algorithm.use_kl_in_reward ? kl(algorithm.kl_penalty, old_log_probs) : undefined,
    token_level_rewards: of(experience.token_level_rewards),
    advantages: of(experience.advantages),
    returns: of(experience.returns),
    log_probs,
    ratio:
      log_probs && old_log_probs && Array.from(log_probs, (p, t) => Math.exp(p - old_log_probs[t])),
    kld: actor.use_kl_loss ? kl(actor.kl_loss_type, log_probs) : undefined,
    entropy: isUpdated ? of(read.entropy) : undefined,
    chosen: isUpdated ? of(read.chosen) : undefined,
    log_probs_after: isUpdated ? of(read.log_probs_after) : undefined,
    rollout_is_weights:
      rollout_is === null ? undefined : of(experience.rollout_is_weights ?? weights),
    response_mask: of(modifiedMask ?? trained.response_mask),
  }
}

/** The clip's verdict on every token of a row; undefined where the loss has none. A rejected token
 * has none either: NaN. */
function clippedColumn(
  { phase }: TraceInput,
  lossMode: LossMode,
  columns: Columns,
): number[] | undefined {
  const { log_probs, old_log_probs, advantages, response_mask } = columns
  if (!log_probs || !old_log_probs || !advantages || !response_mask) return undefined
  const loss = atLevel(policyLossOf(lossMode), phase.actor.importance_sampling_level)
  const row = { log_probs, old_log_probs, advantages, response_mask }
  const rule = loss.rule(row, numbersOf(loss, phase.actor))
  const found = Array.from(log_probs, (_, t) =>
    response_mask[t] === 0 ? undefined : rule(t).clipped,
  )
  return found.every((code) => code === undefined)
    ? undefined
    : found.map((code) => code ?? Number.NaN)
}

/** Places inside a row's response that the policy did not write. */
const observedPlaces = (
  { response_mask, response_lengths, response_length: R }: RolloutBatch,
  row: number,
): number[] =>
  Array.from({ length: response_lengths[row] }, (_, t) => t).filter(
    (t) => response_mask[row * R + t] === 0,
  )

function tracedSample(input: TraceInput, row: number, rewards: Float64Array): TracedSample {
  const { drawn, trained, tokens, phase } = input
  const { batch, samples, texts, scores, index, reward_baselines } = drawn
  const { response_length: R } = batch
  const length = batch.response_lengths[row]
  const columns = rowColumns(input, row)
  columns.clipped = clippedColumn(input, objectiveOf(phase).loss_mode, columns)
  const shown = TOKEN_COLUMNS.flatMap((name) => {
    const values = columns[name]
    return values ? [[name, Array.from(values).slice(0, length)] as const] : []
  })
  const group = Array.from(index.keys()).filter((b) => index[b] === index[row])
  return {
    prompt: samples[row].prompt,
    response: texts[row],
    ground_truth: samples[row].ground_truth,
    score: scores[row],
    is_ended: batch.is_ended[row],
    ...rewardPartsOf(drawn, row),
    tokens: Array.from(batch.response_ids.subarray(row * R, row * R + length), (id) => tokens[id]),
    ...(batch.turns && { observed: observedPlaces(batch, row) }),
    columns: Object.fromEntries(shown),
    group: {
      rewards: group.map((b) => rewards[b]),
      lengths: group.map((b) => tokenCount(trained, b, 1)),
      place: group.indexOf(row),
    },
    ...(reward_baselines && { reward_baseline: reward_baselines[row] }),
  }
}

/** The table of a step: what the GPU said in float32, what the driver computed in float64, and what
 * follows from both. */
export function tokenTable(input: TraceInput): TokenTable {
  const { phase, drawn, experience, updates } = input
  const { response_length } = drawn.batch
  const { token_level_rewards } = experience
  const rewards = rowScores({ token_level_rewards, response_length })
  const kl_coef = experience.metrics['actor/reward_kl_penalty_coeff']
  return {
    phase,
    loss_mode: objectiveOf(phase).loss_mode,
    ...(kl_coef !== undefined && { kl_coef }),
    rows: rewards.length,
    nonzero_rewards: rewards.filter((reward) => reward !== 0).length,
    reward_std: batchStd(rewards),
    ...whitening(input, rewards),
    updates,
    samples: tracedRows(drawn.order).map((row) => tracedSample(input, row, rewards)),
  }
}

/** Rows of the batch that a table shows, as they were sampled. `order`: the place of each row in
 * that order. */
export function tracedRows(order: ArrayLike<number>): number[] {
  const rows: number[] = []
  for (let row = 0; row < order.length; row++) rows[order[row]] = row
  return rows.slice(0, MAX_TRACED)
}

/** A table with the entropies of the layers, of its samples in their order. */
export const withLayers = (table: TokenTable, { layers, rows }: TracedLayers): TokenTable => ({
  ...table,
  layers,
  samples: table.samples.map((sample, i) =>
    rows.length > 0 ? { ...sample, layer_entropy: rows[i] } : sample,
  ),
})
