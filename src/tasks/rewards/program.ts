// A reward that a person wrote as a program: how it is asked for scores, and what its answers are.
import { callProgram, type ProgramAnswer, type ProgramChoice } from '../program.ts'
import type { Response } from './reward.ts'

/** The function that scores, by verl's name. */
const ENTRY = 'compute_score'

/** Has a program score responses, one answer each. Rejects where it cannot run at all. */
export const askForScores = (
  program: ProgramChoice,
  responses: readonly Response[],
): Promise<readonly ProgramAnswer[]> =>
  callProgram(
    program,
    ENTRY,
    responses.map((response) => ({ ...response })),
  )

/** A score, and the other numbers that a program returned with it. */
export interface ProgramScore {
  readonly score: number
  readonly extra: Readonly<Record<string, number>>
}

/** The most numbers beside the score. */
const MOST_EXTRA = 16
const EXTRA_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/

const shown = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
const numeric = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value)
const isFiniteNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

/**
 * The score in what a program returned: a number, true or false, or an object with `score`, whose other numbers become metrics. Throws
 * RangeError for anything else.
 */
export function readScore(value: unknown): ProgramScore {
  const is_object = typeof value === 'object' && value !== null && !Array.isArray(value)
  const own =
    is_object && Object.hasOwn(value, 'score') ? (value as { score: unknown }).score : value
  const score = numeric(own)
  if (!isFiniteNumber(score))
    throw new RangeError(`expected a finite number, or an object with score, got ${shown(value)}`)
  const extra: Record<string, number> = {}
  if (is_object)
    for (const [name, given] of Object.entries(value).slice(0, MOST_EXTRA + 1)) {
      const number = numeric(given)
      if (name !== 'score' && EXTRA_NAME.test(name) && isFiniteNumber(number)) extra[name] = number
    }
  return { score, extra }
}
