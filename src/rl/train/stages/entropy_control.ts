// Sets the weight of the entropy bonus where it follows a target: what a step uses, and what its
// entropy makes of it.
import type { RlPhase } from '../../config/phase.ts'
import {
  adaptedEntropy,
  appliedCoefficient,
  firstEntropy,
} from '../../experience/adaptive_entropy.ts'
import type { StepNumbers } from './taken_step.ts'
import type { Training } from './training.ts'

/** The phase with the weight of the entropy bonus that the step before asks for, and what is to be
 * done with the numbers of this step. Waits for those of the step before where there is a
 * target. */
export async function followEntropy(
  training: Training,
  phase: RlPhase,
): Promise<{ readonly phase: RlPhase; readonly adapt: (reading: Promise<StepNumbers>) => void }> {
  const { actor } = phase
  if (!actor.use_adaptive_entropy) return { phase, adapt() {} }
  const state = (await training.entropy) ?? firstEntropy(actor.entropy_coeff)
  return {
    phase: { ...phase, actor: { ...actor, entropy_coeff: appliedCoefficient(state, actor) } },
    adapt(reading) {
      const next = reading.then(({ metrics }) =>
        adaptedEntropy(state, metrics['actor/entropy'], actor),
      )
      next.catch(() => {}) // the step's own reader reports it
      training.entropy = next
    },
  }
}
