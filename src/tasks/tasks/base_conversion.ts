// Poses the task of writing a number in another base.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const tokenizer = characters(alphabetOf(['0123456789abcdef', ',=']))

/** `2d,16,2=` → `101101`: 2d in base 16, written in base 2. */
export const base_conversion: TaskKind = {
  id: 'base_conversion',
  name: 'Number bases',
  summary: 'Write a number of one base in another: 2d,16,2= asks for 2d of base 16 in base 2.',
  params: [
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest number that is asked for, in base ten.',
      default: 255,
      min: 15,
      max: 65535,
      step: 1,
      unit: 'value',
    },
    {
      name: 'max_base',
      label: 'Largest base',
      help: 'Numbers are given and wanted in the bases from 2 up to this one.',
      default: 10,
      min: 3,
      max: 16,
      step: 1,
      unit: 'digits',
    },
  ],
  short_run: { max_value: 127, max_base: 4 },
  create: ({ max_value, max_base }) => {
    const bases = max_base - 1
    const longest = max_value.toString(2).length
    return numberedTask({
      id: 'base_conversion',
      name: `value=${max_value} base=${max_base}`,
      tokenizer,
      max_prompt_length: longest + `,2,${max_base}=`.length,
      max_response_length: longest + 1,
      kinds: [BigInt(bases * (bases - 1)) * BigInt(max_value)],
      pose: (index) => {
        const [from, step, value] = choices(index, [bases, bases - 1, max_value])
        // Any base but the one it is given in.
        const to = (from + 1 + step) % bases
        const text = (value + 1).toString(from + 2)
        return {
          prompt: `${text},${from + 2},${to + 2}=`,
          ground_truth: (value + 1).toString(to + 2),
        }
      },
      pattern: /^([0-9a-f]+),(\d+),(\d+)=$/,
      example: '2d,16,2=',
      answer: ([, text, from, to]) => Number.parseInt(text, Number(from)).toString(Number(to)),
    })
  },
}
