// Creates the tensors that the actor keeps on the GPU.

import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../kernels/rollout_correction/rollout_correction.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelShape } from '../../model/layout/config.ts'
import { CHUNK } from '../../model/layout/flat_params.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import { createLensTensors } from '../../model/lenses/lens.ts'
import type { Lenses } from '../../model/params/lens_tensors.ts'
import { overlaid, type ParamBuffers } from '../../model/params/param_buffers.ts'
import { type ParamTensors, paramTensors } from '../../model/params/param_tensors.ts'
import {
  createOtherTeacher,
  createTeacher,
  type OtherTeacher,
  type TeacherTensors,
} from '../../model/transformer/teacher.ts'
import { createWorkspace, type Workspace } from '../../model/transformer/workspace.ts'
import { type BatchTensors, createBatchTensors } from '../experience/training_batch.ts'
import { createShuffledTensors, type ShuffledTensors } from './base/shuffled_batch.ts'
import { createTraceTensors, type TraceTensors } from './base/step_trace.ts'
import { createInner, type InnerTensors } from './inner_tensors.ts'
import { createTrained } from './optimizer_tensors.ts'
import { createTrainableTensors, type KernelChoice, type TrainableTensors } from './trainable.ts'

/** How large the actor's buffers must be. */
export interface ActorSize {
  readonly prompt_length: number
  /** R: the longest response of any phase. */
  readonly response_length: number
  /** Most rows of a batch in any phase. */
  readonly batchRows: number
  /** Most rows of a micro-batch in any phase. */
  readonly microRows: number
  /** Most optimizer steps in one training step. */
  readonly updates: number
  /** Whether a phase trains by Muon. Default false. */
  readonly hasMuon?: boolean
  readonly probeRows: number
  /** Keep a second set of weights, the frozen reference policy that KL is measured to. */
  readonly hasReference: boolean
  /** Most layers that a teacher teaches at once in any phase. Default 0: there is none. */
  readonly students?: number
  /** Most inner layers that learn by a phase's own objective at once. Default 0: there is none. */
  readonly supervised?: number
  /** Another model that teaches. Default: there is none. */
  readonly teacher?: ParamLayout | undefined
  /** Keep a second batch, for epochs that go through its rows in another order. Default false. */
  readonly hasShuffled?: boolean
  /** Most epochs that have an order of their own. Default 1. */
  readonly epochs?: number
  /** Compute activations again in the backward instead of keeping them
   * (model/transformer/workspace.ts). */
  readonly enable_gradient_checkpointing?: boolean
  /** Leave padding out of the passes over the batch (model/transformer/rows.ts). Default true. */
  readonly use_remove_padding?: boolean
  readonly kernels?: KernelChoice
  /** Layers that phases read through a translator (config/lens_places.ts). Default: none. */
  readonly lensLayers?: readonly number[]
  /** Which segments any phase trains; the others have no gradients and no moments. Absent = all. */
  readonly trains?: readonly boolean[]
}

/** Weights of the reference policy. */
export interface ReferenceTensors extends ParamTensors {
  /** Those that are not the model's own: the trained ones. */
  readonly own: ParamBuffers
}

export interface ActorTensors extends TrainableTensors {
  readonly reference: ReferenceTensors | undefined
  /** Translators that phases read layers through (phase_lens.ts), one behind the other in the order
   * of `lensLayers`, [layers · translatorSize]. */
  readonly lens: Tensor<'f32'> | undefined
  /** Sums of the loss kernels over this training step. */
  readonly sums: Tensor
  /** Sums of rollout correction against the policy being updated (bypass mode). */
  readonly correction_sums: Tensor
  /** Where the log-probs of this step's updates are not finite first in [B, R] (firstNonfinite), of
   * each shuffled epoch; u32 [epochs]. */
  readonly nonfinite_token: Tensor<'u32'>
  readonly batch: BatchTensors
  /** Of phases that learn from a teacher. */
  readonly teacher:
    | {
        readonly tensors: TeacherTensors
        /** Mean divergence of each student over this training step, [students]. */
        readonly sums: Tensor
        /** A model of its own sizes, and what it says of the sampled tokens, [B, R]. */
        readonly other: (OtherTeacher & { readonly log_probs: Tensor }) | undefined
      }
    | undefined
  /** Of inner layers that learn by the phase's own objective. */
  readonly inner: InnerTensors | undefined
  readonly shuffled: ShuffledTensors | undefined
  readonly trace: TraceTensors
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
  const { prompt_length, response_length: R, batchRows: B, microRows } = size
  const T = prompt_length + R
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const stride = probeStride(size)
  // Several optimizer steps of a batch that fits into the activations: their first pass can read
  // the old log-probs of all of it.
  const hasWhole = size.updates > 1 && microRows >= B && !size.hasShuffled
  const batchSize = { rows: B, prompt_length, response_length: R, hasWhole }
  const made = createTrainableTensors(alloc, layout, size, size.kernels, size.trains)
  const { lensLayers = [] } = size
  const hasLens = lensLayers.length > 0
  const lens = hasLens ? createLensTensors(alloc, shape, lensLayers.length, 'lens') : undefined
  const trainable = lens
    ? { ...made, model: { ...made.model, lenses: lensesOf(lens, lensLayers, shape) } }
    : made
  const workspace = createWorkspace(alloc, shape, {
    rows: microRows,
    width: T,
    response_length: R,
    trains: true,
    headSplits: trainable.gradients.lm_head ? headSplits(microRows * R, shape) : 0,
    enable_gradient_checkpointing: size.enable_gradient_checkpointing ?? false,
    hasLens,
  })
  const { students = 0, supervised = 0, teacher, kernels } = size
  return {
    ...trainable,
    lens: lens?.flat,
    // The reference of an adapter is its base.
    reference:
      size.hasReference && !trainable.model.adapter
        ? createReference(alloc, layout, trainable.model.weights, size.trains)
        : undefined,
    sums: optimizer('loss_sums', POLICY_LOSS_SUMS.length),
    correction_sums: optimizer('correction_sums', ROLLOUT_CORRECTION_SUMS.length),
    nonfinite_token: alloc.tensor('nonfinite_token', 'u32', [size.epochs ?? 1], {
      kind: 'optimizer',
    }),
    batch: createBatchTensors(alloc, batchSize),
    shuffled: size.hasShuffled ? createShuffledTensors(alloc, batchSize) : undefined,
    trace: createTraceTensors(alloc, { rows: B, response_length: R }),
    workspace,
    teacher:
      students > 0
        ? {
            tensors: createTeacher(
              alloc,
              workspace,
              Math.max(shape.hidden_size, teacher?.shape.hidden_size ?? 0),
            ),
            sums: optimizer('teacher_sums', students),
            other: teacher && {
              ...createOtherTeacher(alloc, teacher, workspace, kernels),
              log_probs: alloc.tensor('teacher_log_probs', 'f32', [B, R], { kind: 'batch' }),
            },
          }
        : undefined,
    inner: supervised > 0 ? createInner(alloc, workspace, B, supervised) : undefined,
    probe: createWorkspace(alloc, shape, {
      rows: size.probeRows,
      width: T,
      response_length: R,
      trains: false,
    }),
    probe_entropy: alloc.tensor('probe_entropy', 'f32', [shape.num_hidden_layers + 1, stride]),
    probe_mask: alloc.tensor('probe_mask', 'f32', [stride]),
    probe_sums: alloc.tensor('probe_sums', 'f32', [shape.num_hidden_layers + 1]),
  }
}

/** One phase is on at a time, so through whichever lens it reads a layer, that has one
 * translator. */
function lensesOf(
  { layers }: ReturnType<typeof createLensTensors>,
  lensLayers: readonly number[],
  { num_hidden_layers }: ModelShape,
): Lenses {
  const all = Array.from({ length: num_hidden_layers }, (_, l) => layers[lensLayers.indexOf(l)])
  return { tuned: all, jacobian: all }
}

/** Room for the reference policy. What is never trained it shares with the model. */
function createReference(
  alloc: Allocator,
  layout: ParamLayout,
  { buffers }: ParamTensors,
  trains: readonly boolean[] | undefined,
): ReferenceTensors {
  const own = createTrained(alloc, layout, 'reference', 'weights', trains)
  return { ...paramTensors(alloc, layout, overlaid(alloc, own, buffers)), own }
}

/** Elements per layer in probe_entropy: rounded up to what a binding may start at. */
export const probeStride = ({ probeRows, response_length }: ActorSize): number =>
  Math.ceil((probeRows * response_length) / CHUNK) * CHUNK
