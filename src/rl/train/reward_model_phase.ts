// Phases that train a reward model: the pairs that such a phase begins with, and its steps.
import type { RewardModelPhase } from '../config/phase.ts'
import type { Preferences } from '../reward/preferences.ts'
import type { TakenStep } from './stages/taken_step.ts'
import type { Training } from './training.ts'

/** What the current phase teaches, once its pairs are drawn; undefined in phases of another kind. */
export const preferencesOf = ({ parts, progress }: Training): Preferences | undefined =>
  progress.pairs_of === progress.phase ? parts.reward?.preferences : undefined

/** Has the policy answer prompts twice, or takes the pairs of the rows, where the current phase is taught by pairs and has none yet. */
export async function drawPhasePairs(training: Training): Promise<void> {
  const { gpu, parts, progress, responder, layout } = training
  const { current, phase } = progress
  if (current.kind !== 'reward_model' || progress.pairs_of === phase || !parts.reward) return
  gpu.stage('gen')
  await parts.reward.begin(current, parts.actor.tensors.model.weights, layout, {
    prompts_at_once: responder.prompts_at_once,
    takeSamples: (count) => responder.data.take(count),
    respond: (samples, round) =>
      responder.respondTwice(samples, current.pairs.temperature, progress.step, round),
    given: (count, held_out) => responder.writtenPairs(count, held_out),
  })
  progress.pairs_of = phase
}

/** Trains the reward model for one step, on pairs that the policy made when the phase began. The policy rests. */
export function rewardModelStep(
  training: Training,
  phase: RewardModelPhase,
  lr: number,
): TakenStep {
  const { config, parts, progress } = training
  if (!parts.reward) throw new Error('trainer: there is no reward model')
  const { test_freq } = config.validation
  const { step, phase_step } = progress
  const is_end = phase_step === 1 || phase_step === phase.steps
  const is_due = test_freq > 0 && step % test_freq === 0
  // A person who has just given a verdict sees what it changes.
  const measures = is_end || is_due || !!preferencesOf(training)?.hasNews(phase_step - 1)
  return { samples: [], reading: parts.reward.step(phase, lr, measures) }
}
