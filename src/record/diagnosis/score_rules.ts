// Finds problems of scores and responses: groups that agree, lengths, a fall, a gap. Each threshold
// has measured runs beside it.
import type { RlPhase } from '../../rl/config/phase.ts'
import { comparesGroups } from '../../rl/estimators/advantages.ts'
import {
  type DiagnosisRule,
  mean,
  type PhaseEvidence,
  percent,
  SOLVED,
  short,
  WINDOW,
} from './evidence.ts'
import type { Advice } from './finding.ts'

/** Below this share of groups that differ in score, a batch teaches next to nothing: a run that
 * began at 1 % stayed flat. */
const FEW_GROUPS = 0.1
/** Share of responses without an end token; over five steps of healthy runs it is at most 32 %. */
const UNENDED = 0.5
const GROWTH = 1.5
/** A learning rate of 1e-3 took six-layer models this many steps to lose everything. */
const COLLAPSE_STEPS = 20
/** A collapse is remembered this long while the score does not come back. */
const COLLAPSE_MEMORY = 200
const LEAST_SCORE = 0.1
/** Runs that had learned by heart differed by 24 points and more; healthy runs of the presets by at
 * most 12. */
const GAP = 0.15

/** The largest bonus that did no harm to six-layer models. */
const HARMLESS_BONUS = 0.03

/** What helps where a policy was lost that had been better. */
const slower = (of: PhaseEvidence): readonly [Advice, Advice] => [
  of.advice('actor.optim.lr', 'Lower the learning rate by three to ten times, and begin again.'),
  of.phase.actor.entropy_coeff > HARMLESS_BONUS
    ? of.advice(
        'actor.entropy_coeff',
        'A smaller entropy bonus: the presets of six layers learn with up to 0.03, and a larger one pays for noise.',
      )
    : of.advice('actor.optim.lr_warmup_steps', 'Let the learning rate rise over more steps.'),
]

export const no_informative_groups: DiagnosisRule = (of) => {
  const metric = 'group/informative'
  const share = of.recent(metric)
  const { rollout, adv_estimator } = of.phase
  if (rollout.n < 2 || !comparesGroups(adv_estimator)) return undefined
  if (share === undefined || share >= FEW_GROUPS) return undefined
  const score = of.recent(of.score) ?? 0
  const isSolved = score > SOLVED
  const was = of.early(of.score) ?? 0
  const isLost = was >= LEAST_SCORE && score <= was / 2
  return {
    is_severe: !isSolved,
    excess: (FEW_GROUPS - share) / FEW_GROUPS,
    title: isSolved ? 'There is little left to learn' : 'Almost no prompt teaches anything',
    evidence: `The responses differ in score in ${percent(share)} of the groups of the last ${WINDOW} steps; the mean score is ${short(score)}.`,
    meaning: isSolved
      ? 'Nearly the highest score is reached, and a group whose responses all score the same has no gradient.'
      : 'A group whose responses all score the same has an advantage of zero: the curve stays flat however long it trains.',
    advice: isSolved
      ? [
          of.advice('steps', 'End the phase earlier.'),
          { path: 'task.id', text: 'Choose a harder task.' },
        ]
      : isLost
        ? slower(of)
        : [
            of.warmStart(
              'Train the warm start longer: at least 15 % of the samples should be right before reinforcement begins.',
              'Choose an easier task, or add a warm start before this phase: at least 15 % of the samples should be right.',
            ),
            of.advice('rollout.n', 'Draw more responses to each prompt, so that some differ.'),
          ],
    step: of.stepOf(metric),
  }
}

export const cut_off: DiagnosisRule = (of) => {
  const metric = 'response/not_ended_ratio'
  const share = of.recent(metric)
  if (share === undefined || share <= UNENDED) return undefined
  const { max_response_length } = of.phase.rollout
  const was = of.early(metric) ?? share
  // Those that do end are not right either: longer ones would not be.
  const isNothingRight = of.recent(of.score) === 0
  const longer = of.advice('rollout.max_response_length', 'Allow longer responses.')
  const warmer = of.warmStart(
    'Train the warm start longer, so that the model knows how to end.',
    'Choose an easier task, or add a warm start before this phase: from it the model learns how to end.',
  )
  return {
    is_severe: share > 0.75,
    excess: (share - UNENDED) / UNENDED,
    title: 'Most responses are cut off',
    evidence: `${percent(share)} of the responses of the last ${WINDOW} steps had no end token within their ${max_response_length} tokens.`,
    meaning: isNothingRight
      ? 'No response has scored yet, so there is nothing better to learn from.'
      : of.reward_parts.length > 0
        ? 'The reward sees a text that stops in the middle.'
        : 'A response that does not end scores 0 here, even with the right answer.',
    advice: was < share / 2 ? slower(of) : isNothingRight ? [warmer, longer] : [longer, warmer],
    step: of.stepOf(metric),
  }
}

export const length_growth: DiagnosisRule = (of) => {
  const metric = 'response_length/mean'
  const now = of.recent(metric)
  const first = of.early(metric)
  if (now === undefined || first === undefined || of.count(metric) < 2 * WINDOW) return undefined
  if (now < GROWTH * first || now - first < 1) return undefined
  return {
    is_severe: false,
    excess: now / first / GROWTH - 1,
    title: 'Responses grow longer',
    evidence: `They have ${short(now)} tokens over the last ${WINDOW} steps and had ${short(first)} over the first ${WINDOW} of the phase.`,
    meaning:
      'Length grows because it pays, because the loss weighs the tokens of long responses otherwise, or because the policy forgets to end.',
    advice: [
      of.phase.actor.entropy_coeff > 0
        ? of.advice('actor.entropy_coeff', 'A smaller entropy bonus: it also rewards not to end.')
        : of.advice('actor.loss_agg_mode', 'The mean over tokens weighs every token the same.'),
      of.advice(
        'algorithm.overlong_buffer.len',
        'Take reward off responses that come near the limit.',
      ),
    ],
    step: of.stepOf(metric),
  }
}

export const reward_collapse: DiagnosisRule = (of) => {
  const metric = of.score
  const points = of.last(metric, COLLAPSE_MEMORY + COLLAPSE_STEPS)
  // Means of three steps against single good batches.
  const smooth = points.slice(2).map((_, i) => mean(points.slice(i, i + 3)))
  const now = smooth.at(-1)
  if (now === undefined) return undefined
  const fall = deepestFall(smooth, responses(of.phase))
  if (!fall || now > fall.from / 2) return undefined
  const fromStep = points[fall.top + 2][0]
  return {
    is_severe: true,
    excess: (fall.from / 2 - now) / (fall.from / 2),
    title: 'The score has fallen by half',
    evidence: `The mean score of three steps fell from ${short(fall.from)} at step ${fromStep} to ${short(fall.to)} at step ${points[fall.bottom + 2][0]}; now it is ${short(now)}.`,
    meaning:
      'The usual cause is too high a learning rate. Clipping does not prevent it, and a collapsed policy seldom comes back.',
    advice: slower(of),
    step: of.stepOf(metric),
  }
}

const responses = ({ rollout }: RlPhase) => rollout.train_batch_size * rollout.n

/** The largest drop to half or less within COLLAPSE_STEPS that chance does not explain; indices of
 * `smooth`. */
function deepestFall(
  smooth: readonly number[],
  rows: number,
): { from: number; to: number; top: number; bottom: number } | undefined {
  let deepest: ReturnType<typeof deepestFall>
  smooth.forEach((to, bottom) => {
    const first = Math.max(0, bottom - COLLAPSE_STEPS)
    let top = first
    for (let i = first; i < bottom; i++) if (smooth[i] > smooth[top]) top = i
    const from = smooth[top]
    const share = Math.min(1, Math.max(0, from))
    // Three standard errors of a share of that many responses, over three steps.
    const chance = 3 * Math.sqrt((share * (1 - share)) / (3 * rows))
    if (from < LEAST_SCORE || to > from / 2 || from - to < chance) return
    if (!deepest || from - to > deepest.from - deepest.to) deepest = { from, to, top, bottom }
  })
  return deepest
}

/** Both of the last two validations of the phase are below what the steps around them scored. */
export const held_out_gap: DiagnosisRule = (of) => {
  const metric = of.held_out
  const last = metric === undefined ? [] : of.last(metric, 2)
  if (metric === undefined || last.length < 2) return undefined
  const depth = of.stepOf(of.score) - last[0][0] + WINDOW
  const gaps = last.map(([step, held_out]) => {
    const trained = of.between(of.score, step - WINDOW + 1, step + WINDOW, depth)
    return { step, held_out, trained: trained ?? held_out }
  })
  const { step, held_out, trained } = gaps[1]
  const gap = Math.min(...gaps.map((at) => at.trained - at.held_out))
  if (gap <= GAP) return undefined
  return {
    is_severe: gap > 2 * GAP,
    excess: (gap - GAP) / GAP,
    title: 'Training prompts do better than new ones',
    evidence: `Around step ${step} the mean score is ${short(trained)} on training prompts and ${short(held_out)} on held-out ones; the difference was ${short(gap)} or more at the last two evaluations.`,
    meaning: 'The model knows prompts by heart that it has seen. Believe the held-out curve.',
    advice: [
      of.warmStart(
        'Shorten the warm start: it shows the same demonstrations again and again.',
        'Choose a task with more different problems.',
      ),
      of.advice('rollout.train_batch_size', 'More prompts, and fewer responses to each.'),
    ],
    step,
  }
}
