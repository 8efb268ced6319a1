// Makes a task in the usual way: problems that can be numbered, a prompt of a fixed form, and a
// check of the answer.
import { numberKinds } from './numbering.ts'
import { splitProblems } from './problems.ts'
import type { Task } from './task.ts'

/** A problem as it is asked, with one right answer. */
export interface Posed {
  readonly prompt: string
  readonly ground_truth: string
}

interface Problems
  extends Pick<
    Task,
    'id' | 'tokenizer' | 'max_prompt_length' | 'max_response_length' | 'partial_score'
  > {
  /** The task's parameters as text: which problems are held out depends on it and on nothing
   * else. */
  readonly name: string
  /** Problems of each kind (numbering.ts). */
  readonly kinds: readonly bigint[]
  /** Most problems of a kind that are used, where kinds are to occur equally often. */
  readonly most?: number
  /** Problem `index` of a kind. Different ones must have different prompts: the held-out ones are
   * told apart by number. */
  pose(index: bigint, kind: number): Posed
  /** The form of every prompt, and an example of it for the error message. */
  readonly pattern: RegExp
  readonly example: string
}

/** How a response to a prompt that matched `pattern` is scored. */
type Verifier =
  /** The only right answer scores 1, anything else 0. */
  | { answer(prompt: RegExpExecArray): string; readonly check?: undefined }
  /** Several answers are right, or right in part. */
  | { check(prompt: RegExpExecArray, response: string): number; readonly answer?: undefined }

export type NumberedProblems = Problems & Verifier

/** A task of numbered problems, each demonstrated by its right answer. */
export function numberedTask(of: NumberedProblems): Task {
  const { id, tokenizer, max_prompt_length, max_response_length, partial_score } = of
  const numbering = numberKinds(of.kinds, of.most)
  const problems = splitProblems(`${id} ${of.name}`, numbering.total)
  const { test_size, train_size } = problems
  return {
    id,
    tokenizer,
    max_prompt_length,
    max_response_length,
    test_size,
    train_size,
    exact_match: of.check === undefined,
    ...(partial_score !== undefined && { partial_score }),
    sample(seed, index, split) {
      const at = numbering.at(problems.draw(seed, index, split).problem)
      const posed = of.pose(at.index, at.kind)
      return { ...posed, demonstration: posed.ground_truth }
    },
    score(prompt, response) {
      const match = of.pattern.exec(prompt)
      if (!match) throw new RangeError(`${id}: expected a prompt like ${of.example}, got ${prompt}`)
      if (of.check) return of.check(match, response)
      return response === of.answer(match) ? 1 : 0
    },
  }
}

/** What `shareOfPlaces` means, for `partial_score`. */
export const SHARE_OF_PLACES =
  'the share of its characters that are right, if it has the right length'

/** The share of characters that are those of the answer at the same place; 0 for a response of
 * another length. */
export function shareOfPlaces(response: string, answer: string): number {
  if (response.length !== answer.length) return 0
  return [...response].filter((character, i) => character === answer[i]).length / answer.length
}
