// A reward as a person composes it: which parts there are, and what it says of a few answers before anything is trained.
import { installProgramRunner, PROGRAM_ID } from '../../tasks/program.ts'
import { createReward, type Scored } from '../../tasks/rewards/composed.ts'
import type { RewardKind } from '../../tasks/rewards/reward.ts'
import { rewardKinds } from '../../tasks/rewards/rewards.ts'
import { taskOf } from '../experiment/fields/task_fields.ts'
import type { Experiment } from '../experiment/schema.ts'
import { callOnPage } from '../sandbox/page_programs.ts'
import { findContents } from './contents/contents.ts'
import { keepProgram } from './contents/kept_programs.ts'

export type { ParamValue, RewardParam } from '../../tasks/rewards/reward.ts'
export type PartChoice = Experiment['reward']['parts'][number]

/** The kinds of parts that a reward of this experiment may have; a program is one more. */
export const kindsOf = ({ task }: Experiment): readonly RewardKind[] => rewardKinds(taskOf(task))

/** An answer that the reward was tried on. */
export interface TriedRow {
  readonly prompt: string
  readonly what: 'right' | 'wrong' | 'empty'
  readonly response: string
  readonly score: number
  readonly is_right: boolean
  /** By the names of the parts, in their order. */
  readonly parts: Readonly<Record<string, number>>
  /** Why it could not be scored. */
  readonly problem?: string
  /** The last of what programs printed about it. */
  readonly printed?: string
}

/** Problems that a reward is tried on, with a right answer, a wrong one and an empty one to each. */
const TRIED = 3

/**
 * What the reward of an experiment says of the right answer, of a wrong one and of none, to three of its problems. Rejects with the
 * reason where it cannot be made, or a file of it is not here.
 */
export async function tryReward(experiment: Experiment): Promise<readonly TriedRow[]> {
  const task = taskOf(experiment.task)
  const reward = createReward(experiment.reward, task)
  if (!(await findContents(experiment))) throw new RangeError('A file of it is not here.')
  // Each program is asked once about all answers.
  const printed: string[] = []
  installProgramRunner(async (...asked) => {
    const answers = await callOnPage(...asked)
    answers.forEach((answer, row) => {
      printed[row] = (printed[row] ?? '') + (answer.printed ?? '')
    })
    return answers
  })
  const samples = Array.from({ length: TRIED }, (_, i) => task.sample(experiment.seed, i, 'test'))
  const asked = samples.flatMap(
    ({ prompt, ground_truth, data_source = task.id, extra_info }, i) => {
      const other = samples[(i + 1) % TRIED].ground_truth
      const wrong = other === ground_truth ? `${ground_truth}0` : other
      const texts = { right: ground_truth, wrong, empty: '' } as const
      return Object.entries(texts).map(([what, response]) => ({
        ...{
          prompt,
          ground_truth,
          response,
          what: what as TriedRow['what'],
          data_source,
          extra_info,
        },
      }))
    },
  )
  const scored: Scored | undefined = await reward?.score(
    asked.map(({ prompt, ground_truth, response, data_source, extra_info }) => ({
      ...{ data_source, solution_str: response, ground_truth },
      extra_info: { ...extra_info, prompt },
    })),
  )
  return asked.map(({ prompt, what, response }, row) => {
    if (!scored) {
      const score = task.score(prompt, response)
      return { prompt, what, response, score, is_right: score === 1, parts: {} }
    }
    const known = [...scored.columns].flatMap(([name, { [row]: score }]) =>
      score === undefined ? [] : [[name, score] as const],
    )
    const problem = scored.problems.find((own) => own.row === row)?.message
    return {
      ...{ prompt, what, response, score: scored.scores[row], is_right: scored.is_right[row] },
      parts: Object.fromEntries(known),
      ...(problem !== undefined && { problem }),
      ...(printed[row] && { printed: printed[row] }),
    }
  })
}

/** Keeps the text of a program, and makes a part of it. Throws RangeError for one that is too long. */
export const programPart = async (source: string, name: string): Promise<PartChoice> => ({
  ...{ id: PROGRAM_ID, weight: 1 },
  ...(await keepProgram(source, name)),
})
