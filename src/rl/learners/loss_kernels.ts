// Makes the kernels of the policy losses from their declarations.
import {
  type PolicyLossKernel,
  policyLossKernel,
} from '../../kernels/policy_loss/policy_loss_frame.ts'
import { type LossMode, POLICY_LOSSES } from '../losses/losses.ts'

interface LossKernels {
  readonly loss: PolicyLossKernel
  /** The choice of tokens alone, as the loss makes it: with the inputs and params of its call,
   * d_log_probs becomes 1 at the tokens that it chose and 0 at all others; sums stay as they are.
   * Undefined for losses that choose none. */
  readonly choice: PolicyLossKernel | undefined
}

/** The kernels of every loss; all have one interface. */
export const LOSS_KERNELS = Object.fromEntries(
  POLICY_LOSSES.map(({ name, code, choice, numbers }) => {
    const read = Object.entries(numbers).flatMap(([number, { isShare }]) =>
      isShare ? [] : [number],
    )
    const kernels: LossKernels = {
      loss: policyLossKernel(`policy_loss_${name}`, code, read),
      choice: choice && policyLossKernel(`policy_loss_${name}_chosen`, choice, read),
    }
    return [name, kernels]
  }),
) as Readonly<Record<LossMode, LossKernels>>
