// Creates the tensors that a traced step keeps of every token. Other steps record nothing here.
import type { Allocator, Tensor } from '../../../kernels/device/base/tensor.ts'

/** What the update leaves in the workspace and the next micro-batch would overwrite. */
export const UPDATE_TRACE = ['log_probs', 'entropy', 'rollout_is_weights', 'modified_mask'] as const

/** Kept per token, [B, R] each. */
export type TraceTensors = Readonly<Record<(typeof UPDATE_TRACE)[number], Tensor>> & {
  /** Kept while the batch is scored once more, after the update. */
  readonly old_log_probs: Tensor
  /** 1 at the tokens that clip_cov or kl_cov chose, else 0; untouched by other losses. */
  readonly chosen: Tensor
}

/** Allocates the trace of a batch. It always exists, so that a traced step creates no buffer. */
export function createTraceTensors(
  alloc: Allocator,
  { rows, response_length }: { readonly rows: number; readonly response_length: number },
): TraceTensors {
  const tensor = (name: string) =>
    alloc.tensor(`trace.${name}`, 'f32', [rows, response_length], { kind: 'batch' })
  return {
    log_probs: tensor('log_probs'),
    entropy: tensor('entropy'),
    rollout_is_weights: tensor('rollout_is_weights'),
    modified_mask: tensor('modified_mask'),
    old_log_probs: tensor('old_log_probs'),
    chosen: tensor('chosen'),
  }
}
