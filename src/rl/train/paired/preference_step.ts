// One step of a preference phase: log-probs of pairs, their loss in float64, and its gradient back
// through the policy.
import type { PreferencePhase } from '../../config/phase.ts'
import { asAdvantages, policyPhaseOf } from '../../config/preference_policy.ts'
import type { BatchRows } from '../../learners/batch_rows.ts'
import { answerUpdate, mismatchedKl } from '../../preferences/answer_objective.ts'
import type { ScoredAnswers } from '../../preferences/answers.ts'
import { type PreferenceUpdate, pairUpdate } from '../../preferences/pair_objective.ts'
import { type PreferenceObjective, preferenceObjective } from '../../preferences/settings.ts'
import type { SequenceRow } from '../../reward/pairs.ts'
import type { Preference, Preferences } from '../../reward/preferences.ts'
import { type ScoredPair, SHOWN_PAIRS, scoredPair } from '../../reward/scored_pairs.ts'
import { readNumbers } from '../stages/readback.ts'
import type { TakenStep } from '../stages/taken_step.ts'
import { isValidationDue, rowsOf, type Training, uploadProbe } from '../training.ts'
import { mismatched, scoreRows } from './scored_rows.ts'

/** Trains the policy on the next pairs for one step. */
export async function preferenceStep(
  training: Training,
  phase: PreferencePhase,
  lr: number,
): Promise<TakenStep> {
  const { gpu, parts, progress, taught } = training
  const { preferences } = taught
  if (!preferences) throw new Error('trainer: the phase has no pairs')
  const { actor } = parts
  const rows = rowsOf(training, phase)
  actor.beginStep()
  parts.critic?.beginStep()
  const pairs = preferences.nextBatch(phase.batch_size)
  const objective = preferenceObjective(phase.preference)
  const kl = await klOf(training, phase, rows, objective, pairs)
  const { batch, answers } = await scoreRows(training, phase, rows, rowsOfPairs(pairs))
  const found = updateOf(objective, answers, kl)
  actor.uploadColumns({ advantages: asAdvantages(found.d_log_probs) })
  const probe_tokens = uploadProbe(training, batch)
  gpu.stage('update_actor')
  const policy = policyPhaseOf(phase, actor.size.response_length)
  actor.updatePolicy(batch, policy, rows, { lr, step: progress.step })
  const metrics = {
    'preference/loss': found.loss,
    ...named(found.metrics),
    ...counts(preferences),
  }
  const held_out = await heldOut(training, phase, rows, objective)
  training.seen = { batch, rows: 'demonstrations' }
  const numbers = {
    phase,
    batch,
    rows,
    actor_lr: lr,
    probe_tokens,
    metrics: { ...metrics, ...held_out?.metrics },
  }
  const reading = readNumbers(training, numbers).then((read) => ({
    ...read,
    ...(held_out && { scored_pairs: held_out.scored_pairs }),
  }))
  return { samples: [], reading }
}

/** The chosen responses, then the rejected ones in the same order. */
const rowsOfPairs = (pairs: readonly Preference[]): SequenceRow[] => [
  ...pairs.map(({ chosen }) => chosen.row),
  ...pairs.map(({ rejected }) => rejected.row),
]

/** The update of a batch, the first half of its rows chosen. Its better responses are desirable and
 * the worse ones are not, as TRL takes pairs apart. */
export const updateOf = (
  trained: PreferenceObjective,
  answers: ScoredAnswers,
  kl: number,
): PreferenceUpdate =>
  trained.data === 'pairs'
    ? pairUpdate(trained.objective, answers)
    : answerUpdate(
        trained.objective,
        answers,
        Array.from({ length: answers.rows }, (_, b) => b < answers.rows / 2),
        kl,
      )

/** KTO's KL: of each prompt with the response of the row before it. 0 for a loss without one. */
async function klOf(
  training: Training,
  phase: PreferencePhase,
  rows: BatchRows,
  trained: PreferenceObjective,
  pairs: readonly Preference[],
): Promise<number> {
  if (trained.data === 'pairs' || !trained.objective.loss.has_kl) return 0
  const all = rowsOfPairs(pairs)
  const { prompt_length: P } = training.parts.actor.size
  const shifted = all.map((row, i) => mismatched(row, all[(i + all.length - 1) % all.length], P))
  return mismatchedKl((await scoreRows(training, phase, rows, shifted)).answers)
}

/** TRL's names; those without a group of their own under `preference`. */
const named = (metrics: PreferenceUpdate['metrics']): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metrics).map(([name, x]) => [
      name.includes('/') ? name : `preference/${name}`,
      x,
    ]),
  )

const counts = (preferences: Preferences): Record<string, number> => ({
  'preference/pairs': preferences.training.length,
  'preference/held_out_pairs': preferences.held_out.length,
  'preference/held_out_prompts': new Set(preferences.held_out.map(({ prompt }) => prompt)).size,
  'preference/human_pairs': preferences.given,
  'preference/ties': preferences.ties,
})

interface HeldOut {
  readonly metrics: Record<string, number>
  /** Some of them; their scores are the rewards that the policy implies. */
  readonly scored_pairs: readonly ScoredPair[]
}

/** What held-out pairs come to after the update, in steps that validate and the first of a
 * phase. */
async function heldOut(
  training: Training,
  phase: PreferencePhase,
  rows: BatchRows,
  trained: PreferenceObjective,
): Promise<HeldOut | undefined> {
  const held_out = training.taught.preferences?.held_out ?? []
  const is_due = training.progress.phase_step === 1 || isLast(training) || isValidationDue(training)
  if (!is_due || held_out.length === 0) return undefined
  const sums: Record<string, number> = {}
  const scored_pairs: ScoredPair[] = []
  const { batch_size } = phase
  for (let first = 0; first < held_out.length; first += batch_size) {
    const part = held_out.slice(first, first + batch_size)
    const filled = Array.from({ length: batch_size }, (_, i) => part[Math.min(i, part.length - 1)])
    const { answers } = await scoreRows(training, phase, rows, rowsOfPairs(filled))
    const { rewards } = updateOf(trained, answers, 0)
    part.forEach((pair, i) => {
      const [chosen, rejected] = [rewards[i], rewards[i + batch_size]]
      const ofPair = { chosen, rejected, margins: chosen - rejected }
      const accuracies = chosen > rejected ? 1 : 0
      for (const [name, x] of Object.entries({ ...ofPair, accuracies }))
        sums[name] = (sums[name] ?? 0) + x / held_out.length
      scored_pairs.push(scoredPair(pair, { chosen, rejected }))
    })
  }
  const metrics = Object.fromEntries(
    Object.entries(sums).map(([name, x]) => [`eval_rewards/${name}`, x]),
  )
  return { metrics, scored_pairs: scored_pairs.slice(0, SHOWN_PAIRS) }
}

const isLast = ({ progress }: Training): boolean => progress.phase_step === progress.current.steps
