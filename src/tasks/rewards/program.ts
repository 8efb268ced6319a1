// A reward that a person wrote as a program. It runs in a sandbox of its own, never beside the trainer: this file says what is asked of it
// and what becomes of its answer.
import type { Response } from './reward.ts'

/** The id of a program as a part of a reward. */
export const PROGRAM_ID = 'program'

/** The longest text of a program. */
export const MAX_PROGRAM_BYTES = 1_000_000

/** Which program, and how long it may take. */
export interface ProgramChoice {
  /** Hash of its text: `sha256-` and 64 hexadecimal digits. */
  readonly code: string
  /** The name of its file, which says its language: .py, else JavaScript. */
  readonly name: string
  /** Milliseconds for one response. */
  readonly timeout_ms: number
  /** Milliseconds for all responses that are scored at once. */
  readonly batch_timeout_ms: number
}

/** A program with its text. */
export interface Program extends ProgramChoice {
  readonly source: string
}

/** What a program made of a response: what it returned as plain JSON, or why there is nothing. */
export type ProgramAnswer =
  | { readonly value: unknown }
  | { readonly problem: 'timeout' | 'error'; readonly message: string }

/** Runs a program on responses, one answer each. Rejects where it cannot run at all. */
export type ProgramRunner = (
  program: Program,
  responses: readonly Response[],
) => Promise<readonly ProgramAnswer[]>

/** Texts of this process by their hash: an experiment names a program, and whoever starts a run brings it. */
const sources = new Map<string, string>()

/** Makes the text of a program known under its hash. */
export function loadProgram(code: string, source: string): void {
  sources.set(code, source)
}

/** The text of a program. Throws RangeError where nobody has loaded it. */
export function programSource(code: string, name: string): string {
  const source = sources.get(code)
  if (source !== undefined) return source
  throw new RangeError(`reward: the program ${name} (${code}) is not here; give its file again`)
}

let runner: ProgramRunner | undefined

/** Programs of this process run here from now on. */
export function installProgramRunner(run: ProgramRunner): void {
  runner = run
}

/** Has a program score responses. Rejects with RangeError where its text is not here, or nothing can run it. */
export async function runProgram(
  program: ProgramChoice,
  responses: readonly Response[],
): Promise<readonly ProgramAnswer[]> {
  const source = programSource(program.code, program.name)
  if (!runner) throw new RangeError('reward: nothing here can run a program')
  return runner({ ...program, source }, responses)
}

/** The language of a program, which its file's name says. */
export const languageOf = (name: string): 'javascript' | 'python' =>
  /\.py$/i.test(name) ? 'python' : 'javascript'

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
