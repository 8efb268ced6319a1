// Holds what the tasks on a string of digits share: ten problems per digit, `digits>` as prompt,
// the same number of digits back.
import { splitProblems } from '../task/problems.ts'
import type { Task, TaskParam } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

export const lengthParam: TaskParam = {
  name: 'length',
  label: 'Length',
  help: 'Digits in the string.',
  default: 6,
  min: 2,
  max: 8,
  step: 1,
  unit: 'digits',
}

/** `382910>` → solve('382910'), for every string of `length` digits, leading zeros included. */
export function digitStringTask(
  id: string,
  length: number,
  solve: (digits: string) => string,
): Task {
  const problems = splitProblems(`${id} length=${length}`, 10 ** length)
  return {
    id,
    tokenizer: arithmetic,
    max_prompt_length: length + 1,
    max_response_length: length + 1,
    test_size: problems.test_size,
    train_size: problems.train_size,
    exact_match: true,
    sample(seed, index, split) {
      const { problem } = problems.draw(seed, index, split)
      const digits = String(problem).padStart(length, '0')
      const ground_truth = solve(digits)
      return { prompt: `${digits}>`, ground_truth, demonstration: ground_truth }
    },
    score(prompt, response) {
      const match = /^(\d+)>$/.exec(prompt)
      if (!match) throw new RangeError(`${id}: expected a prompt like 382910>, got ${prompt}`)
      return response === solve(match[1]) ? 1 : 0
    },
  }
}
