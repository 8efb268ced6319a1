// Asks for days of the week and of the calendar, some days on.
import { numberedTask } from '../task/numbered_task.ts'
import type { TaskKind } from '../task/task.ts'
import { alphabetOf, characters } from '../tokenizers/characters.ts'

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const DAY_MS = 86_400_000
const FIRST = Date.UTC(2000, 0, 1)
/** 2000 to 2099. */
const DAYS = 36_525

const NAMES: readonly string[] = WEEKDAYS
const tokenizer = characters(alphabetOf([WEEKDAYS.join(''), '0123456789', '+-=']))

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
const later = (start: string, days: number): string =>
  /^[a-z]/.test(start)
    ? WEEKDAYS[(NAMES.indexOf(start) + days) % 7]
    : dateOf(Date.parse(start) + days * DAY_MS)

/** `tue+17=` → `fri`; `2024-02-27+3=` → `2024-03-01`. */
export const calendar_arithmetic: TaskKind = {
  id: 'calendar_arithmetic',
  name: 'Calendar',
  summary: 'Say which day of the week or which date it is some days later.',
  params: [
    {
      name: 'max_days',
      label: 'Most days',
      help: 'How many days later at most.',
      default: 30,
      min: 5,
      max: 9999,
      step: 1,
      unit: 'days',
    },
  ],
  short_run: { max_days: 9 },
  create: ({ max_days }) => {
    const days = BigInt(max_days)
    return numberedTask({
      id: 'calendar_arithmetic',
      name: `days=${max_days}`,
      tokenizer,
      max_prompt_length: '2024-02-27+='.length + String(max_days).length,
      max_response_length: '2024-02-27'.length + 1,
      kinds: [7n * days, BigInt(DAYS) * days],
      // Few days of the week are different problems.
      most: 4096,
      pose: (index, kind) => {
        const by = Number(index % days) + 1
        const at = Number(index / days)
        const start = kind === 0 ? WEEKDAYS[at] : dateOf(FIRST + at * DAY_MS)
        return { prompt: `${start}+${by}=`, ground_truth: later(start, by) }
      },
      pattern: /^((?:mon|tue|wed|thu|fri|sat|sun)|\d{4}-\d\d-\d\d)\+(\d+)=$/,
      example: 'tue+17=',
      answer: ([, start, days]) => later(start, Number(days)),
    })
  },
}
