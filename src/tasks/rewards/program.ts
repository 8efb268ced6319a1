// Asks a reward that a person wrote as a program for scores, and reads its answers.
import { isFiniteNumber, jsonBriefly } from '../../formats/json.ts'
import {
  callProgram,
  languageOf,
  type ProgramAnswer,
  type ProgramChoice,
  programSource,
} from '../task/program.ts'
import type { Response } from './reward.ts'
import { takesBatch, USUAL_FUNCTION } from './signature.ts'

/** A program, and its function that scores; '' where the program says by itself which one that
 * is. */
export interface ScoringProgram extends ProgramChoice {
  readonly function: string
}

/** Has a program score responses, one answer each. Rejects where it cannot run at all. */
export function askForScores(
  { function: chosen, ...program }: ScoringProgram,
  responses: readonly Response[],
): Promise<readonly ProgramAnswer[]> {
  if (languageOf(program.name) === 'javascript') {
    // By their places.
    const calls = responses.map(({ data_source, solution_str, ground_truth, extra_info }) => ({
      data_source,
      solution_str,
      ground_truth,
      extra_info,
    }))
    return callProgram(program, chosen || USUAL_FUNCTION, calls)
  }
  // A function of a whole batch is one call, which may take as long as its responses together.
  const { timeout_ms, batch_timeout_ms } = program
  const isBatch = takesBatch(programSource(program.code) ?? '', chosen)
  const limit = isBatch ? Math.min(batch_timeout_ms, timeout_ms * responses.length) : timeout_ms
  return callProgram(
    { ...program, timeout_ms: limit },
    chosen,
    responses.map((own) => ({ ...own })),
  )
}

/** A score, and the other numbers that a program returned with it; undefined where it leaves the
 * response to the other parts (TRL's None). */
export interface ProgramScore {
  readonly score: number | undefined
  readonly extra: Readonly<Record<string, number>>
}

/** The most numbers beside the score. */
const MOST_EXTRA = 16
const EXTRA_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/

const numeric = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value)

/** The score in what a program returned: a number, true or false, the first of a list, as verl
 * takes it, or an object with `score`, whose other numbers become metrics. Throws RangeError for
 * anything else. */
export function readScore(returned: unknown): ProgramScore {
  const value: unknown = Array.isArray(returned) ? returned[0] : returned
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const own =
    isObject && Object.hasOwn(value, 'score') ? (value as { score: unknown }).score : value
  const score = isObject && own === null ? undefined : numeric(own)
  if (score !== undefined && !isFiniteNumber(score))
    throw new RangeError(
      `expected a finite number, or an object with score, got ${jsonBriefly(returned)}`,
    )
  const extra: Record<string, number> = {}
  if (isObject)
    for (const [name, given] of Object.entries(value).slice(0, MOST_EXTRA + 1)) {
      const number = numeric(given)
      if (name !== 'score' && EXTRA_NAME.test(name) && isFiniteNumber(number)) extra[name] = number
    }
  return { score, extra }
}
