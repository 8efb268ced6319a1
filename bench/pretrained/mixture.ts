// Makes the rows that the shipped models were pretrained on: right answers of several tasks with
// one vocabulary, told apart by their signs.
import { createTask, loadTask } from '../../src/tasks/index.ts'

/** Tasks, how they are set and how many of their training problems are taken; where there are
 * fewer, they come again. */
type Mixture = readonly (readonly [id: string, params: Record<string, number>, rows: number])[]

const ARITHMETIC: Mixture = [
  ['partial_sft_addition', {}, 6000],
  ['chain_sum', {}, 6000],
  ['gcd', {}, 3000],
  ['countdown', {}, 3000],
  ['prime_factorization', {}, 1000],
  ['reverse_digits', {}, 5000],
]
/** Short problems, which models of 40,000 weights learn in part. */
const SMALL: Mixture = [
  ['sort_digits', { length: 3 }, 2000],
  ['partial_sft_addition', {}, 2000],
  ['gcd', { max_value: 30 }, 1000],
  ['bracket_completion', { length: 6 }, 1000],
]

/** One story to each of so many prompts. */
const STORIES: Mixture = [['story', { plots: 8, words: 16 }, 131_072]]

interface Pretrained {
  /** Beside this file. */
  readonly recipe: string
  /** The rows, where they are not those of the recipe's task. */
  readonly mixture?: Mixture
  /** Trained by train.py, where a CPU would take the lab many hours. */
  readonly is_torch?: true
}

/** The models of public/models. */
export const PRETRAINED: Readonly<Record<string, Pretrained>> = {
  arithmetic: { recipe: 'arithmetic.json', mixture: ARITHMETIC },
  small: { recipe: 'small.json', mixture: SMALL },
  'small-deep': { recipe: 'small_deep.json', mixture: SMALL },
  sorter: { recipe: 'sorter.json' },
  story: { recipe: 'story.json', mixture: STORIES, is_torch: true },
}

// What a task needs is loaded with this file: whoever imports it may close its loader then.
for (const { mixture = [] } of Object.values(PRETRAINED))
  for (const [id] of mixture) await loadTask(id)

/** Of the problems that are drawn. */
const SEED = 1

/** JSON lines with the columns that verl's data sets have: {"prompt", "ground_truth"}. */
export function mixtureRows(mixture: Mixture): string {
  return mixture
    .flatMap(([id, params, rows]) => {
      const task = createTask(id, params)
      return Array.from({ length: rows }, (_, i) => {
        const { prompt, ground_truth } = task.sample(SEED, i, 'train_set')
        return `${JSON.stringify({ prompt, ground_truth })}\n`
      })
    })
    .join('')
}
