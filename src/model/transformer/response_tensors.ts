// Declares the tensors that the vocabulary head and the objectives read and write for a
// micro-batch's response tokens.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { ModelShape } from '../layout/config.ts'
import { createRunning } from './head_ranges.ts'

/** Inputs and outputs of the vocabulary head for the R response tokens of each row, [rows, R]
 * unless said otherwise. */
export interface ResponseTensors {
  /** Which state scores which token, u32 [rows, R · 4] (kernels/vocab_head/scored.ts). */
  readonly scored: Tensor
  readonly response_ids: Tensor
  readonly response_mask: Tensor
  readonly log_probs: Tensor
  readonly entropy: Tensor
  readonly lse: Tensor
  /** Σ p² of each token's distribution. */
  readonly sum_pi_squared: Tensor
  /** Between the ranges of a head that lies in several (head_ranges.ts). */
  readonly running?: Tensor | undefined
  readonly d_log_probs: Tensor
  readonly d_entropy: Tensor
  readonly old_log_probs: Tensor
  readonly advantages: Tensor
  /** Log-probs under the frozen reference policy, and KL to it. */
  readonly ref_log_prob: Tensor
  readonly kld: Tensor
  readonly rollout_is_weights: Tensor
  /** response_mask after rejection (bypass mode). */
  readonly modified_mask: Tensor
  /** What one token counts: in the metrics, in the loss, in the policy's part of the loss. */
  readonly token_weights: Tensor
  readonly loss_weights: Tensor
  readonly pg_weights: Tensor
  /** What one token counts in the entropy bonus, where a loss keeps those of high entropy. */
  readonly entropy_weights: Tensor
  /** Of a value model: what it says now, what it said of this batch, what came of it. */
  readonly vpreds: Tensor
  readonly d_vpreds: Tensor
  readonly values: Tensor
  readonly returns: Tensor
}

/** Room for the response tokens of `rows` rows. */
export function createResponse(
  alloc: Allocator,
  shape: ModelShape,
  rows: number,
  responseLength: number,
): ResponseTensors {
  const response = (label: string, dtype: 'f32' | 'u32' = 'f32') =>
    alloc.tensor(label, dtype, [rows, responseLength], { kind: 'activations' })
  return {
    scored: alloc.tensor('scored', 'u32', [rows, responseLength * 4], { kind: 'activations' }),
    response_ids: response('response_ids', 'u32'),
    response_mask: response('response_mask'),
    log_probs: response('log_probs'),
    entropy: response('entropy'),
    lse: response('lse_head'),
    sum_pi_squared: response('sum_pi_squared'),
    running: createRunning(alloc, shape, rows, responseLength),
    d_log_probs: response('d_log_probs'),
    d_entropy: response('d_entropy'),
    old_log_probs: response('old_log_probs'),
    advantages: response('advantages'),
    ref_log_prob: response('ref_log_prob'),
    kld: response('kld'),
    rollout_is_weights: response('rollout_is_weights'),
    modified_mask: response('modified_mask'),
    token_weights: response('token_weights'),
    loss_weights: response('loss_weights'),
    pg_weights: response('pg_weights'),
    entropy_weights: response('entropy_weights'),
    vpreds: response('vpreds'),
    d_vpreds: response('d_vpreds'),
    values: response('values'),
    returns: response('returns'),
  }
}
