// Poses the task of mending brackets of which one has the wrong shape.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'

const OPENERS = '([{'
const CLOSERS = ')]}'

/** Where the partner of each opener is, by the opener's place; undefined where shapes aside
 * something does not close. */
function partners(text: string): Map<number, number> | undefined {
  const open: number[] = []
  const found = new Map<number, number>()
  for (const [i, bracket] of [...text].entries()) {
    if (OPENERS.includes(bracket)) open.push(i)
    else {
      const opener = open.pop()
      if (opener === undefined || !CLOSERS.includes(bracket)) return undefined
      found.set(opener, i)
    }
  }
  return open.length === 0 ? found : undefined
}

const isBalanced = (text: string): boolean => {
  const pairs = partners(text)
  return (
    pairs !== undefined &&
    [...pairs].every(([i, j]) => OPENERS.indexOf(text[i]) === CLOSERS.indexOf(text[j]))
  )
}

/** Shapes apart, the balanced text number `index` of so many pairs, as + and −; there are
 * `catalan(pairs)`. */
function nesting(index: number, pairs: number): string {
  if (pairs === 0) return ''
  // The first pair holds some of the others; the rest follow it.
  let rest = index
  for (let inside = 0; ; inside++) {
    const after = pairs - 1 - inside
    const ways = catalan(inside) * catalan(after)
    if (rest >= ways) {
      rest -= ways
      continue
    }
    return `+${nesting(Math.floor(rest / catalan(after)), inside)}-${nesting(rest % catalan(after), after)}`
  }
}

const catalan = (pairs: number): number =>
  pairs === 0 ? 1 : (catalan(pairs - 1) * 2 * (2 * pairs - 1)) / (pairs + 1)

/** A text with its brackets given shapes, in the order of their openers. */
function shaped(signs: string, shapes: readonly number[]): string {
  const open: number[] = []
  let next = 0
  return [...signs]
    .map((sign) => {
      if (sign === '-') return CLOSERS[open.pop() ?? 0]
      open.push(shapes[next++])
      return OPENERS[open[open.length - 1]]
    })
    .join('')
}

const replaced = (text: string, at: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + 1)

/** `([})=` → `([])` or `({})`: any text is right that differs in one bracket and has all of them
 * matched. */
export const bracket_repair: TaskKind = {
  id: 'bracket_repair',
  name: 'Repair brackets',
  summary:
    'One bracket has the wrong shape: write the text with one bracket changed so that all of them match.',
  params: [
    {
      name: 'pairs',
      label: 'Pairs',
      help: 'Pairs of brackets in the text.',
      default: 3,
      min: 1,
      max: 8,
      step: 1,
      unit: 'pairs',
    },
  ],
  create: ({ pairs }) => {
    const bases = [catalan(pairs), pairs, 2, ...new Array(pairs).fill(OPENERS.length)]
    return numberedTask({
      id: 'bracket_repair',
      name: `pairs=${pairs}`,
      tokenizer: arithmetic,
      max_prompt_length: 2 * pairs + 1,
      max_response_length: 2 * pairs + 1,
      kinds: [bases.reduce((product, base) => product * BigInt(base), 1n)],
      pose: (index) => {
        const [nested, broken, by, ...shapes] = choices(index, bases)
        const ground_truth = shaped(nesting(nested, pairs), shapes)
        // Only closers are broken, so that the broken text says which text it was made from.
        const closers = [...ground_truth].flatMap((bracket, i) =>
          CLOSERS.includes(bracket) ? [i] : [],
        )
        const at = closers[broken]
        const shape = (CLOSERS.indexOf(ground_truth[at]) + 1 + by) % CLOSERS.length
        return { prompt: `${replaced(ground_truth, at, CLOSERS[shape])}=`, ground_truth }
      },
      pattern: /^([()[\]{}]+)=$/,
      example: '([})=',
      check: ([, broken], response) => {
        const changed = [...broken].filter((bracket, i) => bracket !== response[i]).length
        return response.length === broken.length && changed === 1 && isBalanced(response) ? 1 : 0
      },
    })
  },
}
