// Makes the tensors of inner policies that learn by the objective of a phase of reinforcement.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { CHUNK } from '../../model/layout/flat_params.ts'
import type { ResponseTensors } from '../../model/transformer/response_tensors.ts'
import type { Workspace } from '../../model/transformer/workspace.ts'

/** What inner policies that learn by the phase's objective need. */
export interface InnerTensors {
  /** Of the policy whose turn it is, [rows, R] each. */
  readonly response: Pick<ResponseTensors, (typeof OWN)[number]>
  /** Log-probs of the batch under each old policy, [B, R]. */
  readonly old: readonly Tensor[]
  /** Sums of the loss kernels, [layers, CHUNK]; POLICY_LOSS_SUMS of each come first. */
  readonly sums: Tensor
}

const OWN = [
  'log_probs',
  'entropy',
  'lse',
  'sum_pi_squared',
  'old_log_probs',
  'd_log_probs',
  'd_entropy',
] as const

/** Room for so many inner policies beside the rows of `ws`, in batches of `batchRows`. */
export function createInner(
  alloc: Allocator,
  { rows, response_length: R }: Workspace,
  batchRows: number,
  layers: number,
): InnerTensors {
  const response = OWN.map((name) => [
    name,
    alloc.tensor(`inner.${name}`, 'f32', [rows, R], { kind: 'activations' }),
  ])
  return {
    response: Object.fromEntries(response) as InnerTensors['response'],
    old: Array.from({ length: layers }, (_, i) =>
      alloc.tensor(`inner.old_log_probs.${i}`, 'f32', [batchRows, R], { kind: 'batch' }),
    ),
    sums: alloc.tensor('inner_sums', 'f32', [layers, CHUNK], { kind: 'optimizer' }),
  }
}
