// Checks the rules about rows without right answers, and with answers that are objects: nothing
// shows them, and only some rewards can judge by them.

import { SHAPING_PARTS } from '../../../tasks/rewards/shaping.ts'
import { PROGRAM_ID } from '../../../tasks/task/program.ts'
import type { Experiment } from '../schema/schema.ts'
import type { Rule } from './rule.ts'

/** What to do about it, wherever it is refused. */
const REMEDY =
  'a program (--reward program.py on the command line, Reward on the page), or a reward model (reward_model.enable)'

/** Every rule about them. */
export function answerRules({ task, phases, reward }: Experiment, rule: Rule): void {
  const { answers } = task
  if (answers !== null && answers !== 'json') return
  const why =
    answers === null
      ? 'the rows have no right answers (task.answer_key is null)'
      : 'the right answers of the rows are objects or lists, no texts'
  const judging = reward.parts.filter(({ id }) => id !== PROGRAM_ID && !SHAPING_PARTS.includes(id))
  const isScored = reward.parts.length > 0 && judging.length === 0
  phases.forEach((phase, i) => {
    if (phase.kind === 'sft') {
      const expected = `expected no phase of kind sft, because ${why}, so there is nothing to show`
      rule(false, `phases.${i}.kind`, ['task.answers'], `${expected}; got sft`)
      return
    }
    if (phase.kind === 'distill' && phase.distillation.lmbda < 1)
      rule(
        false,
        `phases.${i}.distillation.lmbda`,
        ['task.answers'],
        `expected 1, because ${why}, so there is nothing to show; got ${phase.distillation.lmbda}`,
      )
    const isJudged = 'reward_model' in phase && phase.reward_model.enable
    const needs =
      !isJudged &&
      (phase.kind === 'rl' ||
        (phase.kind === 'distill'
          ? phase.distillation.lmbda > 0
          : phase.pairs.source === 'judge' || phase.pairs.source === 'mixed'))
    const got = reward.parts.length === 0 ? 'none' : judging.map(({ id }) => id).join(', ')
    rule(
      !needs || isScored,
      'reward.parts',
      ['task.answers', `phases.${i}.kind`],
      `expected ${REMEDY} to score responses, because ${why}; got ${got}`,
    )
  })
}
