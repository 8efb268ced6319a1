// Creates the tensors that the critic keeps on the GPU.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { VALUE_LOSS_SUMS } from '../../kernels/value_loss/value_loss.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import type { ActorSize } from './actor_tensors.ts'
import { createTrainableTensors, type TrainableTensors } from './trainable.ts'

/** What the critic keeps beside the actor's batch and workspace, which it borrows. */
export interface CriticTensors extends TrainableTensors {
  /** V of the batch before the update, and what came of it: [B, R]. */
  readonly values: Tensor
  readonly returns: Tensor
  /** The same in the order of a shuffled epoch. */
  readonly shuffled: { readonly values: Tensor; readonly returns: Tensor } | undefined
  /** VALUE_LOSS_SUMS over this training step. */
  readonly value_sums: Tensor
}

/** Batches of `rows` rows; `updates` = most optimizer steps in one training step. */
export type CriticSize = Pick<
  ActorSize,
  'response_length' | 'updates' | 'hasMuon' | 'kernels' | 'hasShuffled'
> & {
  readonly rows: number
}

/** Allocates a critic. */
export function createCriticTensors(
  alloc: Allocator,
  layout: ParamLayout,
  { rows, response_length, kernels, hasShuffled, ...updated }: CriticSize,
): CriticTensors {
  const response = (label: string) =>
    alloc.tensor(`critic.${label}`, 'f32', [rows, response_length], { kind: 'batch' })
  return {
    ...createTrainableTensors(alloc, layout, updated, kernels),
    values: response('values'),
    returns: response('returns'),
    shuffled: hasShuffled
      ? { values: response('shuffled.values'), returns: response('shuffled.returns') }
      : undefined,
    value_sums: alloc.tensor('critic.value_sums', 'f32', [VALUE_LOSS_SUMS.length], {
      kind: 'optimizer',
    }),
  }
}
