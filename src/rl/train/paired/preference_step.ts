// Takes one step of a preference phase: log-probs of pairs, their loss in float64, and its gradient
// back through the policy.
import type { PreferencePhase } from '../../config/phase.ts'
import { asAdvantages, policyPhaseOf } from '../../config/preference_policy.ts'
import type { BatchRows } from '../../learners/base/batch_rows.ts'
import { answerUpdate, mismatchedKl } from '../../preferences/answer_objective.ts'
import { meanOf, type ScoredAnswers } from '../../preferences/answers.ts'
import { type PreferenceUpdate, pairUpdate } from '../../preferences/pair_objective.ts'
import { type PreferenceObjective, preferenceObjective } from '../../preferences/settings.ts'
import { answersOfStep, isDesirable, type JudgedAnswer } from '../../reward/judged_answers.ts'
import type { SequenceRow } from '../../reward/pairs.ts'
import type { Preference } from '../../reward/preferences.ts'
import { type ScoredPair, SHOWN_PAIRS, scoredPair } from '../../reward/scored_pairs.ts'
import { fitLens } from '../stages/fit_lens.ts'
import { readNumbers } from '../stages/readback.ts'
import type { TakenStep } from '../stages/taken_step.ts'
import { isValidationDue, rowsOf, type Training, uploadProbe } from '../stages/training.ts'
import { batchOfRows, scoreRows } from './scored_rows.ts'

/** The rows of a step: a half of chosen responses and one of rejected ones, or single answers. */
interface TrainedRows {
  readonly rows: readonly SequenceRow[]
  /** Of each row, whether it is desirable. */
  readonly labels: readonly boolean[]
}

/** Trains the policy on the next pairs, or the next single answers, for one step. */
export async function preferenceStep(
  training: Training,
  phase: PreferencePhase,
  lr: number,
): Promise<TakenStep> {
  const { gpu, parts, progress } = training
  const { actor } = parts
  const rows = rowsOf(training, phase)
  actor.beginStep()
  parts.critic?.beginStep()
  const trained = nextRows(training, phase)
  const lens = await fitPairs(training, phase, trained)
  const objective = preferenceObjective(phase.preference)
  const kl = await klOf(training, phase, rows, objective, trained)
  const { batch, answers } = await scoreRows(training, phase, rows, trained.rows)
  const found = updateOf(objective, answers, kl, trained.labels)
  actor.uploadColumns({ advantages: asAdvantages(found.d_log_probs) })
  const probeTokens = uploadProbe(training, batch)
  gpu.stage('update_actor')
  const policy = policyPhaseOf(phase, actor.size.response_length)
  actor.updatePolicy(batch, policy, rows, { lr, step: progress.step })
  const metrics = {
    'preference/loss': found.loss,
    ...named(found.metrics),
    ...counts(training),
    ...lens,
  }
  const ofHeldOut = await heldOut(training, phase, rows, objective)
  training.seen = { batch, rows: 'demonstrations' }
  const numbers = {
    phase,
    batch,
    rows,
    actorLr: lr,
    probeTokens,
    metrics: { ...metrics, ...ofHeldOut?.metrics },
  }
  const reading = readNumbers(training, numbers).then((read) => ({
    ...read,
    ...(ofHeldOut?.scored_pairs && { scored_pairs: ofHeldOut.scored_pairs }),
  }))
  return { samples: [], reading }
}

/** Fits a lens on the rows of a step. Of pairs, both responses have the same prompt. */
function fitPairs(training: Training, phase: PreferencePhase, { rows }: TrainedRows) {
  const { actor } = training.parts
  const prompts = training.taught.answers ? rows.length : rows.length / 2
  return fitLens(training, phase, batchOfRows(rows, actor.size), {
    prompts,
    promptOf: (row) => row % prompts,
  })
}

function nextRows({ taught, progress }: Training, { batch_size }: PreferencePhase): TrainedRows {
  const { answers, preferences } = taught
  if (answers) return rowsOfAnswers(answersOfStep(answers, progress.phase_step, 2 * batch_size))
  if (!preferences) throw new Error('trainer: the phase has no pairs')
  return rowsOfPairs(preferences.nextBatch(batch_size))
}

/** The chosen responses, then the rejected ones in the same order. Better responses are desirable
 * and the worse ones are not, as TRL takes pairs apart. */
const rowsOfPairs = (pairs: readonly Preference[]): TrainedRows => ({
  rows: [...pairs.map(({ chosen }) => chosen.row), ...pairs.map(({ rejected }) => rejected.row)],
  labels: [...pairs.map(() => true), ...pairs.map(() => false)],
})

const rowsOfAnswers = (answers: readonly JudgedAnswer[]): TrainedRows => ({
  rows: answers.map(({ answer }) => answer.row),
  labels: answers.map(isDesirable),
})

/** The update of a batch; of pairs the first half of its rows is chosen. */
export const updateOf = (
  trained: PreferenceObjective,
  answers: ScoredAnswers,
  kl: number,
  labels: readonly boolean[],
): PreferenceUpdate =>
  trained.data === 'pairs'
    ? pairUpdate(trained.objective, answers)
    : answerUpdate(trained.objective, answers, labels, kl)

/** KTO's KL: of each prompt with the response of the row before it, the first with the last one. 0
 * for a loss without one. */
async function klOf(
  training: Training,
  phase: PreferencePhase,
  rows: BatchRows,
  trained: PreferenceObjective,
  { rows: all }: TrainedRows,
): Promise<number> {
  if (trained.data === 'pairs' || !trained.objective.loss.hasKl) return 0
  const { prompt_length: P } = training.parts.actor.size
  const { taught } = training
  const shifted = all.map((row, i) => taught.mismatched(row, all.at(i - 1) ?? row, P))
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

function counts({ taught }: Training): Record<string, number> {
  const { answers, preferences } = taught
  if (answers)
    return {
      'preference/desirable': answers.training.filter(isDesirable).length,
      'preference/undesirable': answers.training.filter((one) => !isDesirable(one)).length,
      'preference/held_out_answers': answers.held_out.length,
    }
  if (!preferences) return {}
  return {
    'preference/pairs': preferences.training.length,
    'preference/held_out_pairs': preferences.held_out.length,
    'preference/held_out_prompts': new Set(preferences.held_out.map(({ prompt }) => prompt)).size,
    'preference/human_pairs': preferences.given,
    'preference/ties': preferences.ties,
  }
}

interface HeldOut {
  readonly metrics: Record<string, number>
  /** Some of the pairs; their scores are the rewards that the policy implies. */
  readonly scored_pairs?: readonly ScoredPair[]
}

/** What held-out pairs or answers come to after the update, in steps that validate and the first of
 * a phase. */
async function heldOut(
  training: Training,
  phase: PreferencePhase,
  rows: BatchRows,
  trained: PreferenceObjective,
): Promise<HeldOut | undefined> {
  const isDue = training.progress.phase_step === 1 || isLast(training) || isValidationDue(training)
  if (!isDue) return undefined
  const { answers, preferences } = training.taught
  const rewardsOf = async (part: TrainedRows) => {
    const { answers: scored } = await scoreRows(training, phase, rows, part.rows)
    return updateOf(trained, scored, 0, part.labels).rewards
  }
  return answers
    ? heldOutAnswers(answers.held_out, 2 * phase.batch_size, rewardsOf)
    : heldOutPairs(preferences?.held_out ?? [], phase.batch_size, rewardsOf)
}

/** The reward of every row of a batch. */
type RewardsOf = (part: TrainedRows) => Promise<ArrayLike<number>>

async function heldOutPairs(
  pairs: readonly Preference[],
  size: number,
  rewardsOf: RewardsOf,
): Promise<HeldOut | undefined> {
  if (pairs.length === 0) return undefined
  const sums: Record<string, number> = {}
  const scoredPairs: ScoredPair[] = []
  for (let first = 0; first < pairs.length; first += size) {
    const part = pairs.slice(first, first + size)
    const rewards = await rewardsOf(rowsOfPairs(filledUp(part, size)))
    part.forEach((pair, i) => {
      const [chosen, rejected] = [rewards[i], rewards[i + size]]
      const ofPair = { chosen, rejected, margins: chosen - rejected }
      const accuracies = chosen > rejected ? 1 : 0
      for (const [name, x] of Object.entries({ ...ofPair, accuracies }))
        sums[name] = (sums[name] ?? 0) + x / pairs.length
      scoredPairs.push(scoredPair(pair, { chosen, rejected }))
    })
  }
  return { metrics: evaluated(sums), scored_pairs: scoredPairs.slice(0, SHOWN_PAIRS) }
}

async function heldOutAnswers(
  answers: readonly JudgedAnswer[],
  size: number,
  rewardsOf: RewardsOf,
): Promise<HeldOut | undefined> {
  const [good, bad]: [number[], number[]] = [[], []]
  for (let first = 0; first < answers.length; first += size) {
    const part = answers.slice(first, first + size)
    const rewards = await rewardsOf(rowsOfAnswers(filledUp(part, size)))
    part.forEach((one, i) => {
      ;(isDesirable(one) ? good : bad).push(rewards[i])
    })
  }
  const [chosen, rejected] = [meanOf(good), meanOf(bad)]
  const metrics = evaluated({
    ...(chosen !== undefined && { chosen }),
    ...(rejected !== undefined && { rejected }),
    ...(chosen !== undefined && rejected !== undefined && { margins: chosen - rejected }),
  })
  return { metrics }
}

/** A batch of `size`, the last one repeated. */
const filledUp = <T>(part: readonly T[], size: number): T[] =>
  Array.from({ length: size }, (_, i) => part[Math.min(i, part.length - 1)])

const evaluated = (rewards: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(rewards).map(([name, x]) => [`eval_rewards/${name}`, x]))

const isLast = ({ progress }: Training): boolean => progress.phase_step === progress.current.steps
