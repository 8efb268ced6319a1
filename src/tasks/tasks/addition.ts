// Holds what the two addition tasks share: their problems, the held-out ones among them, and the
// score.
import { splitProblems } from '../task/problems.ts'
import type { Task, TaskParam, TaskProperty } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

export const digitsParam: TaskParam = {
  name: 'digits',
  label: 'Digits',
  help: 'Digits of each of the two numbers.',
  default: 2,
  min: 1,
  max: 4,
  step: 1,
  unit: 'digits',
}

export const carryProperty: TaskProperty = {
  id: 'carry',
  label: 'whether the units carry',
  of: ({ prompt }) =>
    (/(\d)\+\d*(\d)=/
      .exec(prompt)
      ?.slice(1)
      .reduce((a, b) => a + Number(b), 0) ?? 0) > 9
      ? 'yes'
      : 'no',
}

/** `37+85=` → `122`, for two numbers of `digits` digits (10 … 99 for two; 0 … 9 for one).
 *
 * `demonstrate(a, b, chance)` gives the answer of a demonstration; `chance` is uniform in [0, 1).
 * The held-out problems depend on `digits` alone. */
export function additionTask(
  id: string,
  digits: number,
  demonstrate: (a: number, b: number, chance: number) => string,
): Task {
  const low = digits === 1 ? 0 : 10 ** (digits - 1)
  const numbers = 10 ** digits - low
  const problems = splitProblems(`addition digits=${digits}`, numbers ** 2)
  return {
    id,
    tokenizer: arithmetic,
    max_prompt_length: 2 * digits + 2,
    max_response_length: digits + 2, // one digit more than a number has, and the end token
    test_size: problems.test_size,
    train_size: problems.train_size,
    exact_match: true,
    sample(seed, index, split) {
      const { problem, chance } = problems.draw(seed, index, split)
      const a = low + Math.floor(problem / numbers)
      const b = low + (problem % numbers)
      return {
        prompt: `${a}+${b}=`,
        ground_truth: String(a + b),
        demonstration: demonstrate(a, b, chance),
      }
    },
    score(prompt, response) {
      const match = /^(\d+)\+(\d+)=$/.exec(prompt)
      if (!match) throw new RangeError(`${id}: expected a prompt like 37+85=, got ${prompt}`)
      return response === String(Number(match[1]) + Number(match[2])) ? 1 : 0
    },
  }
}

/** The sum of each pair of digits mod 10, the sum without carries: `37+85` → `12`. Leading zeros
 * stay (`50+53` → `03`), so that the answer always has as many digits as the numbers. */
export function sumWithoutCarries(a: number, b: number, digits: number): string {
  let sum = ''
  for (let place = 10 ** (digits - 1); place >= 1; place /= 10)
    sum += (Math.floor(a / place) + Math.floor(b / place)) % 10
  return sum
}
