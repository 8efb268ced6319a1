// Poses the task of bracket completion: close all open brackets in the right order.
import { splitProblems } from '../task/problems.ts'
import type { Task, TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

const ID = 'bracket_completion'
const OPENERS = '([{'
const CLOSERS = ')]}'

/** `([]{()=` → `})`: the closers that complete a prefix with at least one bracket open. */
export const bracket_completion: TaskKind = {
  id: ID,
  name: 'Complete brackets',
  summary: 'Close every bracket that is still open, innermost first.',
  params: [
    {
      name: 'length',
      label: 'Length',
      help: 'Brackets in the given prefix, opening and closing.',
      default: 8,
      min: 3,
      max: 12,
      step: 1,
      unit: 'brackets',
    },
  ],
  properties: [
    {
      id: 'depth',
      label: 'how many brackets are open',
      of: ({ ground_truth }) => String(ground_truth.length),
    },
  ],
  create: ({ length }) => bracketTask(length),
}

function bracketTask(length: number): Task {
  const counts = countPrefixes(length)
  const problems = splitProblems(`${ID} length=${length}`, counts[length][0])
  return {
    id: ID,
    tokenizer: arithmetic,
    max_prompt_length: length + 1,
    max_response_length: length + 1,
    test_size: problems.test_size,
    train_size: problems.train_size,
    exact_match: true,
    sample(seed, index, split) {
      const { problem } = problems.draw(seed, index, split)
      const prefix = prefixAt(problem, counts)
      const ground_truth = completion(prefix)
      return { prompt: `${prefix}=`, ground_truth, demonstration: ground_truth }
    },
    score(prompt, response) {
      const match = /^([()[\]{}]+)=$/.exec(prompt)
      if (!match) throw new RangeError(`${ID}: expected a prompt like ([]{=, got ${prompt}`)
      return response === completion(match[1]) ? 1 : 0
    },
  }
}

/** counts[n][depth]: ways to write n more brackets from `depth` open ones and end with at least one
 * open. */
function countPrefixes(length: number): number[][] {
  const counts: number[][] = [Array.from({ length: length + 1 }, (_, depth) => (depth > 0 ? 1 : 0))]
  for (let n = 1; n <= length; n++)
    counts.push(
      Array.from(
        { length: length + 1 - n },
        // Three ways to open; one to close, if any is open.
        (_, depth) => 3 * counts[n - 1][depth + 1] + (depth > 0 ? counts[n - 1][depth - 1] : 0),
      ),
    )
  return counts
}

/** Prefix number `problem` of counts[length][0], each written once. */
function prefixAt(problem: number, counts: readonly number[][]): string {
  let prefix = ''
  let open = ''
  let rest = problem
  for (let n = counts.length - 2; n >= 0; n--) {
    const opened = counts[n][open.length + 1]
    const choice = Math.floor(rest / opened)
    if (choice < 3) {
      prefix += OPENERS[choice]
      open += OPENERS[choice]
      rest -= choice * opened
    } else {
      prefix += closerOf(open[open.length - 1])
      open = open.slice(0, -1)
      rest -= 3 * opened
    }
  }
  return prefix
}

const closerOf = (opener: string) => CLOSERS[OPENERS.indexOf(opener)]

/** The closers of a prefix's open brackets, innermost first. Throws RangeError for a prefix that
 * closes the wrong one. */
function completion(prefix: string): string {
  const open: string[] = []
  for (const bracket of prefix) {
    if (OPENERS.includes(bracket)) open.push(closerOf(bracket))
    else if (open.pop() !== bracket)
      throw new RangeError(`${ID}: expected a prefix that can be completed, got ${prefix}`)
  }
  return open.reverse().join('')
}
