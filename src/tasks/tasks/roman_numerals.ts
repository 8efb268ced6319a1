// Poses the task of writing and reading Roman numerals.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const tokenizer = characters(alphabetOf(['IVXLCDM', '0123456789', '=']))

const SIGNS: readonly (readonly [sign: string, value: number])[] = [
  ...([
    ['M', 1000],
    ['CM', 900],
    ['D', 500],
    ['CD', 400],
  ] as const),
  ...([
    ['C', 100],
    ['XC', 90],
    ['L', 50],
    ['XL', 40],
  ] as const),
  ...([
    ['X', 10],
    ['IX', 9],
    ['V', 5],
    ['IV', 4],
    ['I', 1],
  ] as const),
]

/** Numbers with longer numerals than all before them, from the first that the task can have as its
 * largest. */
const LONGEST = [8, 18, 28, 38, 88, 188, 288, 388, 888, 1888, 2888, 3888]

/** 1 to 3999. */
function roman(value: number): string {
  let text = ''
  let rest = value
  for (const [sign, worth] of SIGNS) for (; rest >= worth; rest -= worth) text += sign
  return text
}

/** The value of a numeral as `roman` writes it. */
function numberOf(numeral: string): number {
  let value = 0
  let rest = numeral
  for (const [sign, worth] of SIGNS)
    for (; rest.startsWith(sign); rest = rest.slice(sign.length)) value += worth
  return value
}

/** `1994=` → `MCMXCIV`; `MCMXCIV=` → `1994`. */
export const roman_numerals: TaskKind = {
  id: 'roman_numerals',
  name: 'Roman numerals',
  summary: 'Write a number as a Roman numeral, or a Roman numeral as a number.',
  params: [
    {
      name: 'max_value',
      label: 'Largest number',
      help: 'The largest number that is asked for.',
      default: 399,
      min: 8,
      max: 3999,
      step: 1,
      unit: 'value',
    },
  ],
  short_run: { max_value: 199 },
  create: ({ max_value }) => {
    const longest = Math.max(
      ...LONGEST.filter((value) => value <= max_value).map((value) => roman(value).length),
      String(max_value).length,
    )
    return numberedTask({
      id: 'roman_numerals',
      name: `value=${max_value}`,
      tokenizer,
      max_prompt_length: longest + 1,
      max_response_length: longest + 1,
      kinds: [BigInt(max_value), BigInt(max_value)],
      pose: (index, kind) => {
        const value = Number(index) + 1
        return kind === 0
          ? { prompt: `${value}=`, ground_truth: roman(value) }
          : { prompt: `${roman(value)}=`, ground_truth: String(value) }
      },
      pattern: /^(?:(\d+)|([IVXLCDM]+))=$/,
      example: 'MCMXCIV=',
      answer: ([, number, numeral]) =>
        number === undefined ? String(numberOf(numeral)) : roman(Number(number)),
    })
  },
}
