// Prepares phases that are taught by pairs, and takes the steps of a reward model.
import { isPaired, type RewardModelPhase } from '../config/phase.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import type { PhasePairSource } from '../reward/phase_pairs.ts'
import type { Preferences } from '../reward/preferences.ts'
import type { TakenStep } from './stages/taken_step.ts'
import type { Training } from './stages/training.ts'

/** What the current phase teaches, once its pairs are drawn; undefined in phases of another
 * kind. */
export function preferencesOf({ parts, progress, taught }: Training): Preferences | undefined {
  if (progress.pairs_of !== progress.phase) return undefined
  const of = progress.current.kind === 'preference' ? taught : parts.reward
  return of?.preferences
}

/** Has the policy answer prompts twice, or takes the pairs of the rows, where the current phase is
 * taught by pairs and has none yet, or new ones are due. */
export async function drawPhasePairs(training: Training): Promise<void> {
  const { parts, progress, responder, layout, taught } = training
  const { current, phase } = progress
  if (!isPaired(current)) return
  const hasBegun = progress.pairs_of === phase
  if (hasBegun && current.kind === 'preference' && !taught.preferences && !taught.answers)
    taught.takeAnswers(current, responder)
  const isDue = current.kind === 'preference' && taught.isDue(current, progress.phase_step)
  if (hasBegun && !isDue) return
  const judges = current.kind === 'preference' && current.reward_model?.enable
  const scorer = judges ? parts.reward : undefined
  const reward = scorer && ((rows: RolloutBatch) => scorer.score(rows))
  const { pairs } = current
  const { step } = progress
  const source: PhasePairSource = {
    promptsAtOnce: responder.promptsAtOnce(pairs),
    takeSamples: (count) => responder.data.take(count),
    respond: (samples, round) => responder.respondForPairs(samples, pairs, { step, round, reward }),
    given: (count, heldOut) => responder.writtenPairs(count, heldOut),
    judged: (count, heldOut) => responder.judged(count, heldOut),
  }
  if (hasBegun) await taught.refresh(current.pairs.count, source)
  else if (current.kind === 'preference') await taught.begin(current, source)
  else await parts.reward?.begin(current, parts.actor.tensors.model.weights, layout, source)
  progress.pairs_of = phase
}

/** Trains the reward model for one step, on pairs that the policy made when the phase began. The
 * policy rests. */
export function rewardModelStep(
  training: Training,
  phase: RewardModelPhase,
  lr: number,
): TakenStep {
  const { config, parts, progress } = training
  if (!parts.reward) throw new Error('trainer: there is no reward model')
  const { test_freq } = config.validation
  const { step, phase_step } = progress
  const isEnd = phase_step === 1 || phase_step === phase.steps
  const isDue = test_freq !== null && step % test_freq === 0
  // A person who has just given a verdict sees what it changes.
  const measures = isEnd || isDue || !!preferencesOf(training)?.hasNews(phase_step - 1)
  return { samples: [], reading: parts.reward.step(phase, lr, measures) }
}
