// Finds problems of a person's programs: responses that a reward could not score, calls that a tool
// did not answer.
import { type DiagnosisRule, percent, WINDOW } from './evidence.ts'

/** Above this share of a batch: below it a run hardly notices. */
const UNSCORED = 0.01

export const unscored: DiagnosisRule = (of) => {
  const [timeouts, errors] = ['reward/timeouts', 'reward/errors'].map((name) => of.recent(name))
  if (timeouts === undefined || errors === undefined) return undefined
  // Other parts fail on nothing that a model writes.
  if (!of.reward_parts.some(({ id }) => id === 'program')) return undefined
  const { train_batch_size, n } = of.phase.rollout
  const share = (timeouts + errors) / (train_batch_size * n)
  if (share <= UNSCORED) return undefined
  return {
    is_severe: share > 0.25,
    excess: (share - UNSCORED) / UNSCORED,
    title: 'The reward could not score some responses',
    evidence: `${percent(share)} of the responses of the last ${WINDOW} steps; ${percent(timeouts / (timeouts + errors))} of them took too long.`,
    meaning: 'Such a response scores 0, whatever it says. The samples show which ones, and why.',
    advice: [
      of.advice('reward.timeout_ms', 'Allow a program more time for one response.'),
      of.advice('reward.batch_timeout_ms', 'Allow a program more time for a whole batch.'),
    ],
    step: of.stepOf('reward/errors'),
  }
}

/** The same of the programs that are called as tools; a share of the calls. */
export const unanswered: DiagnosisRule = (of) => {
  const [timeouts, errors, calls] = ['timeouts', 'errors', 'mean'].map((name) =>
    of.recent(`tool_calls/${name}`),
  )
  if (timeouts === undefined || errors === undefined || !calls) return undefined
  const { train_batch_size, n } = of.phase.rollout
  const share = (timeouts + errors) / (calls * train_batch_size * n)
  if (share <= UNSCORED) return undefined
  return {
    is_severe: share > 0.25,
    excess: (share - UNSCORED) / UNSCORED,
    title: 'A tool did not answer some calls',
    evidence: `${percent(share)} of the calls of the last ${WINDOW} steps; ${percent(timeouts / (timeouts + errors))} of them took too long.`,
    meaning:
      'The model reads an error in place of an answer. The samples show which calls, and why.',
    advice: [
      of.advice('reward.timeout_ms', 'Allow a program more time for one call.'),
      of.advice('reward.batch_timeout_ms', 'Allow a program more time for all calls at once.'),
    ],
    step: of.stepOf('tool_calls/errors'),
  }
}
