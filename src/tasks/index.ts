// Lists the tasks, and makes a task from an experiment's numbers.

import type { Task, TaskKind, TaskParam } from './task/task.ts'
import { base_conversion } from './tasks/base_conversion.ts'
import { bracket_completion } from './tasks/bracket_completion.ts'
import { bracket_repair } from './tasks/bracket_repair.ts'
import { caesar_cipher } from './tasks/caesar_cipher.ts'
import { calculator_products } from './tasks/calculator_products.ts'
import { calendar_arithmetic } from './tasks/calendar_arithmetic.ts'
import { chain_sum } from './tasks/chain_sum.ts'
import { countdown } from './tasks/countdown.ts'
import { gcd } from './tasks/gcd.ts'
import { knights_knaves } from './tasks/knights_knaves.ts'
import { letter_counting } from './tasks/letter_counting.ts'
import { list_functions } from './tasks/list_functions.ts'
import { mini_sudoku } from './tasks/mini_sudoku.ts'
import { number_comparison } from './tasks/number_comparison.ts'
import { partial_sft_addition } from './tasks/partial_sft_addition.ts'
import { prime_factorization } from './tasks/prime_factorization.ts'
import { propositional_logic } from './tasks/propositional_logic.ts'
import { reverse_digits } from './tasks/reverse_digits.ts'
import { roman_numerals } from './tasks/roman_numerals.ts'
import { shortest_path } from './tasks/shortest_path.ts'
import { simple_equations } from './tasks/simple_equations.ts'
import { sort_digits } from './tasks/sort_digits.ts'
import { spell_backward } from './tasks/spell_backward.ts'
import { story } from './tasks/story.ts'
import { string_manipulation } from './tasks/string_manipulation.ts'
import { two_skills_addition } from './tasks/two_skills_addition.ts'

/** Every kind of task, in the order of the menu; the first is the default. */
export const TASKS: readonly TaskKind[] = [
  two_skills_addition,
  partial_sft_addition,
  reverse_digits,
  sort_digits,
  bracket_completion,
  letter_counting,
  chain_sum,
  number_comparison,
  gcd,
  prime_factorization,
  base_conversion,
  roman_numerals,
  simple_equations,
  countdown,
  list_functions,
  spell_backward,
  caesar_cipher,
  string_manipulation,
  bracket_repair,
  propositional_logic,
  knights_knaves,
  mini_sudoku,
  shortest_path,
  calendar_arithmetic,
  calculator_products,
  story,
]

/** A task with its parameters filled in; what `params` leaves out gets its default.
 *
 * Throws RangeError for an unknown task, an unknown parameter or an illegal value, naming the legal
 * ones. */
export function createTask(id: string, params: Readonly<Record<string, number>> = {}): Task {
  const kind = TASKS.find((task) => task.id === id)
  if (!kind)
    throw new RangeError(
      `task: expected one of ${TASKS.map((task) => task.id).join(', ')}, got ${id}`,
    )
  for (const name of Object.keys(params))
    if (!kind.params.some((param) => param.name === name))
      throw new RangeError(
        `task ${id}: expected parameters of ${kind.params.map((param) => param.name).join(', ')}, got ${name}`,
      )
  return withCheckedScore(
    kind.create(
      Object.fromEntries(kind.params.map((param) => [param.name, legalValue(id, param, params)])),
    ),
  )
}

/** A score outside of what the task declares would train a model on nonsense: it ends the run with
 * the response that got it. */
export function withCheckedScore(task: Task): Task {
  const isPartial = task.partial_score !== undefined
  return {
    ...task,
    score(prompt, response) {
      const score = task.score(prompt, response)
      if (!(isPartial ? score >= 0 && score <= 1 : score === 0 || score === 1))
        throw new RangeError(
          `task ${task.id}: expected a score ${isPartial ? 'from 0 to 1' : 'of 0 or 1'}, got ${score} for ${JSON.stringify(response)} to ${JSON.stringify(prompt)}`,
        )
      return score
    },
  }
}

/** Whether the problems of a task can be made at once. */
export const isTaskHere = (id: string): boolean =>
  TASKS.find((task) => task.id === id)?.needs?.isHere() ?? true

/** Loads what the problems of a task need; of most tasks nothing. */
export const loadTask = async (id: string): Promise<void> =>
  TASKS.find((task) => task.id === id)?.needs?.load()

/** The given value or the default. A parameter that steps by whole numbers takes whole numbers
 * only. */
function legalValue(
  id: string,
  { name, min, max, step, default: fallback }: TaskParam,
  params: Readonly<Record<string, number>>,
): number {
  const value = Object.hasOwn(params, name) ? params[name] : fallback
  const whole = Number.isInteger(step)
  if (!(value >= min && value <= max && (!whole || Number.isInteger(value))))
    throw new RangeError(
      `task ${id}: expected ${name} to be a ${whole ? 'whole ' : ''}number from ${min} to ${max}, got ${value}`,
    )
  return value
}
