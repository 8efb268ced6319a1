// Makes the buffers of a rollout: prompts, caches, one decode step, responses.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { ModelShape } from '../layout/config.ts'
import { createLogitsPart } from '../transformer/head_ranges.ts'
import { createWorkspace, type Workspace } from '../transformer/workspace.ts'
import { type Caches, cacheSize, createCaches, groupRows } from './rollout_cache.ts'
import { decodedColumns, type RolloutSize } from './rollout_inputs.ts'

/** One token per row and the buffers of one decode step. */
interface DecodeTensors {
  readonly hidden: readonly [Tensor, Tensor]
  readonly normed: Tensor
  readonly inv_rms: Tensor
  readonly qkv: Tensor
  /** Undefined where one kernel turns q and k and attends. */
  readonly qkv_rotated: Tensor | undefined
  readonly context: Tensor
  readonly middle: Tensor
  /** The narrow side of an adapter's products, [B, 3r]; undefined where the model has none. */
  readonly low: Tensor | undefined
  /** Undefined where one kernel makes gate, up and their product. */
  readonly gate_up: Tensor | undefined
  readonly activated: Tensor
  readonly logits: Tensor
  /** Those of one range of the vocabulary, where the head has several. */
  readonly logits_part: Tensor | undefined
}

/** What a rollout says of its responses. */
interface ResponseTensors {
  /** [B, R]; the pad token after a row's end token. */
  readonly response_ids: Tensor<'u32'>
  /** Log-prob of each sampled token under the sampling policy before top-k and top-p, [B, R]. */
  readonly log_probs: Tensor<'f32'>
  /** Entropy of that policy at each response token, [B, R], nats. */
  readonly entropy: Tensor<'f32'>
}

/** Everything a rollout keeps on the GPU. R counts the decoded columns, which are more than a
 * response where rows have several turns. Where caches of all rows would take too much, groups of
 * rows are decoded after one another (groupRows): then N, B and n·N are those of a group in all but
 * the responses. */
export interface RolloutTensors extends ResponseTensors, Caches {
  /** Responses of the rows that are being decoded: the same tensors where that is all of them. */
  readonly decoded: ResponseTensors
  /** Of the N prompts. */
  readonly prefill: Workspace
  /** Column mask of prompt and response, [B, P + R]; sampling extends it until a row has ended. */
  readonly attention_mask: Tensor<'u32'>
  /** Position of each response column, [R, B rounded up to 64]. */
  readonly positions: Tensor<'u32'>
  /** Row of prefill.hidden that holds each prompt's last token, [N]. */
  readonly last_rows: Tensor<'u32'>
  /** SpecialTokens.eos_token_ids, in the first places of [16]. */
  readonly eos_token_ids: Tensor<'u32'>
  readonly ended: Tensor<'u32'>
  readonly next_ids: Tensor<'u32'>
  /** Tokens to force, each + 1, and 0 where a row samples; [B, R]. Only where rows have several
   * turns. */
  readonly forced: Tensor<'u32'> | undefined
  readonly decode: DecodeTensors
}

const ALIGN = 64
/** Room for end tokens of any model, so that a rollout's memory follows from its size. Llama 3 has
 * three. */
export const MAX_EOS_TOKENS = 16

/** Whether products with k columns take the kernels of a decode step; rows have the same numbers
 * either way. */
export const isFused = (k: number): boolean => k % 4 === 0

/** Allocates a rollout's buffers. Throws RangeError where rows is no multiple of n. */
export function createRolloutTensors(
  alloc: Allocator,
  shape: ModelShape,
  rolloutSize: RolloutSize,
): RolloutTensors {
  const B = groupRows(shape, rolloutSize)
  const { prompt_length: P } = rolloutSize
  const R = decodedColumns(rolloutSize)
  const cache = cacheSize({ ...rolloutSize, rows: B })
  const N = B / cache.n
  const { hidden_size: C, intermediate_size: F, vocab_size: V, qkvSize } = shape
  const f32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`decode.${label}`, 'f32', dims, { kind: 'activations' })
  const u32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`rollout.${label}`, 'u32', dims, { kind: 'batch' })
  const responses = createResponses(alloc, rolloutSize.rows, R)
  const size = { rows: N, width: P, response_length: 1, trains: false }
  const { step } = attentionKernels({ ...shape, width: P + R })
  return {
    prefill: createWorkspace(alloc, shape, size),
    attention_mask: u32('attention_mask', B, P + R),
    positions: u32('positions', R, Math.ceil(B / ALIGN) * ALIGN),
    last_rows: u32('last_rows', N),
    eos_token_ids: u32('eos_token_ids', MAX_EOS_TOKENS),
    ended: u32('ended', B),
    next_ids: u32('next_ids', B),
    forced: (rolloutSize.max_turns ?? 1) > 1 ? u32('forced', B, R) : undefined,
    ...responses,
    decoded: B === rolloutSize.rows ? responses : createResponses(alloc, B, R),
    ...createCaches(alloc, shape, cache, rolloutSize.dtype ?? 'float32'),
    decode: {
      hidden: [f32('hidden.even', B, C), f32('hidden.odd', B, C)],
      normed: f32('normed', B, C),
      inv_rms: f32('inv_rms', B),
      qkv: f32('qkv', B, qkvSize),
      qkv_rotated: step ? undefined : f32('qkv_rotated', B, qkvSize),
      context: f32('context', B, shape.attentionSize),
      middle: f32('middle', B, C),
      low: shape.lora && f32('low', B, 3 * shape.lora.r),
      // What an adapter adds comes between the product and the activation.
      gate_up: isFused(C) && !shape.lora ? undefined : f32('gate_up', B, 2 * F),
      activated: f32('activated', B, F),
      logits: f32('logits', B, V),
      logits_part: createLogitsPart(alloc, shape, B),
    },
  }
}

function createResponses(alloc: Allocator, rows: number, R: number): ResponseTensors {
  const f32 = (label: string) =>
    alloc.tensor(`rollout.${label}`, 'f32', [rows, R], { kind: 'batch' })
  return {
    response_ids: alloc.tensor('rollout.response_ids', 'u32', [rows, R], { kind: 'batch' }),
    log_probs: f32('log_probs'),
    entropy: f32('entropy'),
  }
}
