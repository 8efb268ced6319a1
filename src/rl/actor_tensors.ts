// What the actor keeps on the GPU.

import { CONTROL, OPTIMIZER_BLOCKS } from '../kernels/optimizer/optimizer.ts'
import { POLICY_LOSS_SUMS } from '../kernels/policy_loss/policy_loss.ts'
import type { Allocator, Tensor } from '../kernels/tensor.ts'
import { headSplits } from '../kernels/vocab_head/vocab_head.ts'
import { CHUNK, type ParamLayout, type ParamTensors, paramTensors } from '../model/params.ts'
import type { Model } from '../model/transformer.ts'
import { createWorkspace, type Workspace } from '../model/workspace.ts'

/** How large the actor's buffers must be. */
export interface ActorSize {
  readonly prompt_length: number
  /** R: the longest response of any phase. */
  readonly response_length: number
  /** Most rows of a batch in any phase. */
  readonly batch_rows: number
  /** Most rows of a micro-batch in any phase. */
  readonly micro_rows: number
  /** Most optimizer steps in one training step. */
  readonly updates: number
  readonly probe_rows: number
}

/** The training batch on the GPU: what RolloutBatch holds, plus what is computed from it. */
export interface BatchTensors {
  readonly input_ids: Tensor
  readonly attention_mask: Tensor
  readonly position_ids: Tensor
  readonly response_ids: Tensor
  readonly response_mask: Tensor
  readonly advantages: Tensor
  readonly old_log_probs: Tensor
}

export interface ActorTensors {
  readonly model: Model
  readonly gradients: ParamTensors
  readonly m: Tensor
  readonly v: Tensor
  readonly chunk_segment: Tensor
  /** 1 - beta^t of each segment, [segments, 2]. */
  readonly corrections: Tensor
  readonly partials: Tensor
  /** The last optimizer step, [CONTROL.length]. */
  readonly control: Tensor
  /** control after each optimizer step of this training step, [updates, CONTROL.length]. */
  readonly history: Tensor
  /** Sums of the loss kernels over this training step. */
  readonly sums: Tensor
  readonly batch: BatchTensors
  readonly workspace: Workspace
  readonly probe: Workspace
  /** Entropy of each layer's policy on the probe rows, [L+1, stride]. */
  readonly probe_entropy: Tensor
  /** response_mask of the probe rows, zero beyond them, [stride]. */
  readonly probe_mask: Tensor
  readonly probe_sums: Tensor
}

/** Allocates everything but the rollouts. */
export function createActorTensors(
  alloc: Allocator,
  layout: ParamLayout,
  size: ActorSize,
): ActorTensors {
  const { shape } = layout
  const { prompt_length, response_length: R, batch_rows: B, micro_rows } = size
  const T = prompt_length + R
  const flat = (label: string, kind: 'weights' | 'gradients' | 'optimizer') =>
    alloc.tensor(label, 'f32', [layout.size], { kind })
  const segments = layout.segment_ends.length
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const ids = (label: string, width: number) =>
    alloc.tensor(`batch.${label}`, 'u32', [B, width], { kind: 'batch' })
  const response = (label: string) =>
    alloc.tensor(`batch.${label}`, 'f32', [B, R], { kind: 'batch' })
  const weights = paramTensors(alloc, layout, flat('weights', 'weights'))
  const inv_freq = alloc.tensor('inv_freq', 'f32', [shape.head_dim / 2], { kind: 'weights' })
  const stride = probeStride(size)
  return {
    model: { shape, weights, inv_freq },
    gradients: paramTensors(alloc, layout, flat('gradients', 'gradients')),
    m: flat('adam_m', 'optimizer'),
    v: flat('adam_v', 'optimizer'),
    chunk_segment: alloc.tensor('chunk_segment', 'u32', [layout.size / CHUNK], {
      kind: 'optimizer',
    }),
    corrections: optimizer('corrections', segments, 2),
    partials: optimizer('norm_partials', OPTIMIZER_BLOCKS),
    control: optimizer('control', CONTROL.length),
    history: optimizer('history', size.updates, CONTROL.length),
    sums: optimizer('loss_sums', POLICY_LOSS_SUMS.length),
    batch: {
      input_ids: ids('input_ids', T),
      attention_mask: ids('attention_mask', T),
      position_ids: ids('position_ids', T),
      response_ids: ids('response_ids', R),
      response_mask: response('response_mask'),
      advantages: response('advantages'),
      old_log_probs: response('old_log_probs'),
    },
    workspace: createWorkspace(alloc, shape, {
      rows: micro_rows,
      width: T,
      response_length: R,
      trains: true,
      head_splits: headSplits(micro_rows * R, shape.hidden_size, shape.vocab_size),
    }),
    probe: createWorkspace(alloc, shape, {
      rows: size.probe_rows,
      width: T,
      response_length: R,
      trains: false,
    }),
    probe_entropy: alloc.tensor('probe_entropy', 'f32', [shape.num_hidden_layers + 1, stride]),
    probe_mask: alloc.tensor('probe_mask', 'f32', [stride]),
    probe_sums: alloc.tensor('probe_sums', 'f32', [shape.num_hidden_layers + 1]),
  }
}

/** Elements per layer in probe_entropy: rounded up to what a binding may start at. */
export const probeStride = ({ probe_rows, response_length }: ActorSize): number =>
  Math.ceil((probe_rows * response_length) / CHUNK) * CHUNK
