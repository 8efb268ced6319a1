// Poses the task: is a formula of true and false true?
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { characters } from '../tokenizers/characters.ts'

/** and, or, either but not both, if the first then the second. */
const OPERATORS: Readonly<Record<string, (a: boolean, b: boolean) => boolean>> = {
  '&': (a, b) => a && b,
  '|': (a, b) => a || b,
  '^': (a, b) => a !== b,
  '>': (a, b) => !a || b,
}
const SIGNS = Object.keys(OPERATORS)
const LEAVES = ['T', 'F', '!T', '!F']

/** T or F; each step works out the innermost brackets. */
function truthOf(formula: string): string {
  let text = formula
  while (text.length > 1)
    text = text
      .replaceAll(/!([TF])/g, (_, leaf) => (leaf === 'T' ? 'F' : 'T'))
      .replace(/\(([TF])([&|^>])([TF])\)/, (_, a, sign, b) =>
        OPERATORS[sign](a === 'T', b === 'T') ? 'T' : 'F',
      )
  return text
}

/** `((T&!F)>F)=` → `F`. */
export const propositional_logic: TaskKind = {
  id: 'propositional_logic',
  name: 'Propositional logic',
  summary:
    'Say whether a formula is true (T) or false (F): & is and, | is or, ^ is one of both, > is if-then, ! is not.',
  params: [
    {
      name: 'max_leaves',
      label: 'Most values',
      help: 'How many T and F the longest formulas have; the shortest have two.',
      default: 3,
      min: 2,
      max: 8,
      step: 1,
      unit: 'values',
    },
  ],
  create: ({ max_leaves }) => {
    const basesOf = (leaves: number) => [
      ...new Array(leaves).fill(LEAVES.length),
      ...new Array(leaves - 1).fill(SIGNS.length),
    ]
    // Brackets open on the left or close on the right: for two values that is the same formula.
    const kinds = Array.from({ length: max_leaves - 1 }, (_, i) => i + 2).flatMap((leaves) =>
      (leaves === 2 ? [true] : [true, false]).map((isLeft) => ({ leaves, isLeft })),
    )
    return numberedTask({
      id: 'propositional_logic',
      name: `leaves=${max_leaves}`,
      tokenizer: characters(`TF!${SIGNS.join('')}()=`),
      max_prompt_length: 2 * max_leaves + 3 * (max_leaves - 1) + 1,
      max_response_length: 2,
      most: 2 ** 16,
      kinds: kinds.map(({ leaves }) => BigInt(4 ** (2 * leaves - 1))),
      pose: (index, kind) => {
        const { leaves, isLeft } = kinds[kind]
        const chosen = choices(index, basesOf(leaves))
        const values = chosen.slice(0, leaves).map((i) => LEAVES[i])
        const signs = chosen.slice(leaves).map((i) => SIGNS[i])
        const formula = isLeft
          ? values.reduce((left, value, i) => `(${left}${signs[i - 1]}${value})`)
          : values.reduceRight((right, value, i) => `(${value}${signs[i]}${right})`)
        return { prompt: `${formula}=`, ground_truth: truthOf(formula) }
      },
      pattern: /^(\([TF!&|^>()]+\))=$/,
      example: '((T&!F)>F)=',
      answer: ([, formula]) => truthOf(formula),
    })
  },
}
