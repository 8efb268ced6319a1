// Cuts a batch into mini-batches and passes.

import type { ModelConfig } from '../../../model/layout/config.ts'
import { gcd } from '../../../model/params/param_buffers.ts'
import type { ActorPhase, RlPhase } from '../../config/phase.ts'
import { needsCritic } from '../../experience/experience.ts'

/** Most tokens of one forward and backward; larger mini-batches are accumulated. */
const MAX_MICRO_TOKENS = 4096
/** Most arithmetic of one dispatch: 50 ms at 0.4 TFLOP/s, so that no watchdog of a laptop's GPU
 * fires. */
const MAX_DISPATCH_FLOP = 2e10
/** Of a head that a dispatch sees: one that WebGPU's default binding cannot hold lies in several
 * ranges of rows. */
const MAX_HEAD_ELEMENTS = 2 ** 25

/** Most bytes that the blocks keep of one pass for its backward. */
const MAX_KEPT_BYTES = 2 ** 30

/** What decides how long the largest product of a model takes per token, and how much the blocks
 * keep of one. */
export type ModelWidths = Pick<
  ModelConfig,
  | 'hidden_size'
  | 'intermediate_size'
  | 'vocab_size'
  | 'num_hidden_layers'
  | 'num_attention_heads'
  | 'num_key_value_heads'
  | 'head_dim'
  | 'activations_dtype'
>

/** Tokens that go through forward and backward at once. */
export function microTokens(model: ModelWidths): number {
  const { hidden_size, intermediate_size, vocab_size } = model
  const head = Math.min(vocab_size * hidden_size, MAX_HEAD_ELEMENTS)
  const flopPerToken = 2 * Math.max(head, 2 * intermediate_size * hidden_size)
  return Math.min(
    MAX_MICRO_TOKENS,
    Math.floor(MAX_DISPATCH_FLOP / flopPerToken),
    Math.floor(MAX_KEPT_BYTES / keptBytes(model)),
  )
}

/** Bytes that the blocks keep of a token where nothing is computed again: what
 * model/transformer/workspace.ts allocates for it. */
export function keptBytes(model: ModelWidths): number {
  const { hidden_size: C, intermediate_size: F, num_hidden_layers: L } = model
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = model
  const exact = (H + 2 * K) * D + H + 2
  const other = 3 * C + (H + 2 * K) * D + H * D + 3 * F
  const states = (L + 1) * C
  // In halves for each block but the last, and once as they are computed.
  if (model.activations_dtype === 'bfloat16')
    return 4 * (L * exact + other + states) + 2 * (L - 1) * other
  return 4 * (L * (exact + other) + states)
}

/** Rows that go through forward and backward at once: the largest divisor of a mini-batch that fits
 * `maxTokens`. */
export function microRows(miniBatchRows: number, width: number, maxTokens: number): number {
  for (let parts = 1; parts < miniBatchRows; parts++)
    if (miniBatchRows % parts === 0 && (miniBatchRows / parts) * width <= maxTokens)
      return miniBatchRows / parts
  return 1
}

/** Rows of a batch, of one optimizer step, and of one pass. */
export interface BatchRows {
  readonly batch: number
  readonly mini: number
  readonly micro: number
}

/** Prompts of the critic's mini-batch, where a phase has a critic; else the actor's. */
const criticMini = (phase: RlPhase): number =>
  (needsCritic(phase) ? phase.critic.ppo_mini_batch_size : null) ?? phase.actor.ppo_mini_batch_size

/** How a phase cuts its batch; the critic's mini-batches are cut into the same micro-batches.
 * Throws RangeError for a micro-batch that does not divide the mini-batch of either. */
export function phaseRows(phase: ActorPhase, width: number, model: ModelWidths): BatchRows {
  const maxTokens = microTokens(model)
  if (phase.kind === 'sft' || phase.kind === 'distill') {
    const batch = phase.batch_size
    return { batch, mini: batch, micro: microRows(batch, width, maxTokens) }
  }
  if (phase.kind === 'preference') {
    const batch = 2 * phase.batch_size
    return { batch, mini: batch, micro: microRows(batch, width, maxTokens) }
  }
  const { train_batch_size, n } = phase.rollout
  const mini = phase.actor.ppo_mini_batch_size * n
  const both = gcd(mini, criticMini(phase) * n)
  const micro = phase.actor.ppo_micro_batch_size_per_gpu ?? microRows(both, width, maxTokens)
  if (both % micro !== 0)
    throw new RangeError(
      `actor.ppo_micro_batch_size_per_gpu: expected a divisor of the mini-batch's ${both} rows, got ${micro}`,
    )
  return { batch: train_batch_size * n, mini, micro }
}

/** How the critic of a phase goes through a batch that was cut into `rows`: verl's
 * critic.ppo_mini_batch_size and ppo_epochs. */
export function criticPasses(
  phase: RlPhase,
  rows: BatchRows,
): { readonly rows: BatchRows; readonly epochs: number } {
  return {
    rows: { ...rows, mini: criticMini(phase) * phase.rollout.n },
    epochs: phase.critic.ppo_epochs ?? phase.actor.ppo_epochs,
  }
}

/** Whether the epochs of a phase have orders of their own. verl's legacy worker cuts every batch as
 * it comes. */
export const shufflesRows = ({
  shuffle,
  use_legacy_worker_impl,
}: Pick<RlPhase['actor'], 'shuffle' | 'use_legacy_worker_impl'>): boolean =>
  shuffle && use_legacy_worker_impl === 'disable'

/** Another number for every micro-batch of a run. */
export const callSeed = (step: number, update: number, row: number): number =>
  Math.imul(Math.imul(step, 65_537) + update, 8191) + row
