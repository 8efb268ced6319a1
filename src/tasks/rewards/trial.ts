// Tries a reward on a right answer, on a wrong one and on none, before anything is trained.
import type { Sample, Task } from '../task/task.ts'
import type { Reward, Scored } from './composed.ts'
import { responseTo } from './response.ts'

/** An answer that the reward was tried on. */
export interface TriedRow {
  readonly prompt: string
  readonly what: 'right' | 'wrong' | 'empty'
  readonly response: string
  /** Of a right answer that no row writes: an object as its JSON, or nothing where rows are prompts
   * alone. */
  readonly isUnwritten?: true
  readonly score: number
  readonly is_right: boolean
  /** By the names of the parts, in their order. */
  readonly parts: Readonly<Record<string, number>>
  /** Why it could not be scored. */
  readonly problem?: string
  /** The last of what programs printed about it. */
  readonly printed?: string
}

/** Problems that a reward is tried on, with a right answer, a wrong one and an empty one to
 * each. */
const TRIED = 3

/** What the reward, else the task itself, says of the right answer, of a wrong one and of none, to
 * three held-out problems. */
export async function tryReward(
  task: Task,
  reward: Reward | undefined,
  seed: number,
): Promise<readonly TriedRow[]> {
  const samples = Array.from({ length: TRIED }, (_, i) => task.sample(seed, i, 'test'))
  const asked = samples.flatMap((sample, i) => {
    const right = answerOf(sample)
    const other = answerOf(samples[(i + 1) % TRIED])
    const texts = { right, wrong: other === right ? `${right}0` : other, empty: '' } as const
    return Object.entries(texts).map(([what, response]) => ({
      sample,
      response,
      what: what as TriedRow['what'],
      ...(what === 'right' && !isWritten(sample) && { isUnwritten: true as const }),
    }))
  })
  const { tokenizer } = task
  const scored = await reward?.score(
    asked.map(({ sample, response }) =>
      responseTo(sample, task, response, {
        ids: [...tokenizer.encode(response), tokenizer.eos_token_id],
      }),
    ),
  )
  return asked.map(({ sample: { prompt }, ...own }, row) => {
    if (scored) return { prompt, ...own, ...saidOf(scored, row) }
    const score = task.score(prompt, own.response)
    return { prompt, ...own, score, is_right: score === 1, parts: {} }
  })
}

/** What a demonstration writes, where the right answer is no text. */
const answerOf = ({ ground_truth, truth, demonstration }: Sample): string =>
  truth === undefined ? ground_truth : demonstration || ground_truth

/** Whether the right answer is a text that a response can be. */
const isWritten = (sample: Sample): boolean => answerOf(sample) !== '' && sample.truth === undefined

function saidOf({ columns, scores, is_right, problems, printed }: Scored, row: number) {
  const parts = [...columns].flatMap(([name, { [row]: score }]) =>
    score === undefined ? [] : [[name, score] as const],
  )
  const problem = problems.find((own) => own.row === row)?.message
  return {
    score: scores[row],
    is_right: is_right[row],
    parts: Object.fromEntries(parts),
    ...(problem !== undefined && { problem }),
    ...(printed?.[row] && { printed: printed[row] }),
  }
}

/** What follows from a trial: why nothing may be trained, or what a person should know before it
 * is. */
export interface TrialVerdict {
  readonly refused?: string
  readonly remarks: readonly string[]
}

export function verdictOf(rows: readonly TriedRow[]): TrialVerdict {
  const failed = rows.filter(({ problem }) => problem !== undefined)
  const [first] = failed
  if (first && failed.length === rows.length) {
    return {
      refused: `The reward was tried on ${rows.length} answers and could score none of them: ${first.problem}`,
      remarks: [],
    }
  }
  const remarks: string[] = []
  if (first)
    remarks.push(
      `The reward could not score ${failed.length} of ${rows.length} answers that it was tried on (${first.what}: ${first.problem}). Such responses score 0.`,
    )
  else if (
    new Set(rows.map(({ score }) => score)).size === 1 &&
    !rows.some(({ isUnwritten }) => isUnwritten)
  )
    remarks.push(
      `The reward says ${rows[0].score} of right, wrong and empty answers alike. If no response scores otherwise, nothing can be learned from it.`,
    )
  return { remarks }
}
