// The rows that the shipped model was pretrained on: right answers of several tasks with one vocabulary, told apart by their signs.
import { createTask } from '../../src/tasks/index.ts'

/** Tasks, how they are set and how many of their training problems are taken; where there are fewer, they come again. */
const MIXTURE: readonly (readonly [id: string, params: Record<string, number>, rows: number])[] = [
  ['partial_sft_addition', {}, 6000],
  ['chain_sum', {}, 6000],
  ['gcd', {}, 3000],
  ['countdown', {}, 3000],
  ['prime_factorization', {}, 1000],
  ['reverse_digits', {}, 5000],
]
/** Of the problems that are drawn. */
const SEED = 1

/** JSON lines with the columns that verl's data sets have: {"prompt", "ground_truth"}. */
export const mixtureRows = (): string =>
  MIXTURE.flatMap(([id, params, rows]) => {
    const task = createTask(id, params)
    return Array.from({ length: rows }, (_, i) => {
      const { prompt, ground_truth } = task.sample(SEED, i, 'train_set')
      return `${JSON.stringify({ prompt, ground_truth })}\n`
    })
  }).join('')
