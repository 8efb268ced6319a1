// Describes a program that a person wrote: a reward or a tool. It runs in a sandbox of its own,
// never beside the trainer: this file says what is asked of it, and who runs it.

/** The id of a program as a part of a reward, and as a tool. */
export const PROGRAM_ID = 'program'

/** The longest text of a program. */
export const MAX_PROGRAM_BYTES = 1_000_000

/** How long programs may take. */
export interface ProgramLimits {
  /** Milliseconds for one call. */
  readonly timeout_ms: number
  /** Milliseconds for all calls that are made at once. */
  readonly batch_timeout_ms: number
}

/** Which program, and how it is called. */
export interface ProgramChoice extends ProgramLimits {
  /** Hash of its text: `sha256-` and 64 hexadecimal digits. */
  readonly code: string
  /** The name of its file, which says its language: .py, else JavaScript. */
  readonly name: string
  /** Whether it starts again for every call; else for every batch of them. */
  readonly is_fresh?: boolean
}

/** A program with its text. */
export interface Program extends ProgramChoice {
  readonly source: string
}

/** Arguments of one call by their names, in the order of the function's own. */
export type CallArguments = Readonly<Record<string, unknown>>

/** What a program made of a call: what it returned as plain JSON, or why there is nothing; and the
 * last of what it printed. */
export type ProgramAnswer = (
  | { readonly value: unknown }
  | { readonly problem: 'timeout' | 'error'; readonly message: string }
) & { readonly printed?: string }

/** Calls the function `entry` of a program, one answer for each of `calls`. Rejects where it cannot
 * run at all. */
export type ProgramRunner = (
  program: Program,
  entry: string,
  calls: readonly CallArguments[],
) => Promise<readonly ProgramAnswer[]>

/** Texts of this process by their hash: an experiment names a program, and the caller of a run
 * brings it. */
const sources = new Map<string, string>()

/** Makes the text of a program known under its hash. */
export function loadProgram(code: string, source: string): void {
  sources.set(code, source)
}

/** The text of a program; undefined where nobody has loaded it. */
export const programSource = (code: string): string | undefined => sources.get(code)

let runner: ProgramRunner | undefined

/** Programs of this process run here from now on. */
export function installProgramRunner(run: ProgramRunner): void {
  runner = run
}

/** Calls a function of a program. Rejects with RangeError where its text is not here, or nothing
 * can run it. */
export async function callProgram(
  program: ProgramChoice,
  entry: string,
  calls: readonly CallArguments[],
): Promise<readonly ProgramAnswer[]> {
  const source = programSource(program.code)
  if (source === undefined)
    throw new RangeError(
      `the program ${program.name} (${program.code}) is not here; give its file again`,
    )
  if (!runner) throw new RangeError('nothing here can run a program')
  const answers = await runner({ ...program, source }, entry, calls)
  return calls.map((_, i) => checked(answers[i]))
}

/** An answer whose fields are what they should be; whatever else came is a problem of that call. */
function checked(answer: ProgramAnswer | undefined): ProgramAnswer {
  const { printed } = answer ?? {}
  const isWhole =
    answer !== undefined &&
    (printed === undefined || typeof printed === 'string') &&
    ('problem' in answer
      ? (answer.problem === 'timeout' || answer.problem === 'error') &&
        typeof answer.message === 'string'
      : 'value' in answer)
  return isWhole ? answer : { problem: 'error', message: 'gave no answer that can be read' }
}

/** The language of a program, which its file's name says. */
export const languageOf = (name: string): 'javascript' | 'python' =>
  /\.py$/i.test(name) ? 'python' : 'javascript'
