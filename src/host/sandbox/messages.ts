// Declares the messages between worker and page about a person's program.
import type { CallArguments, Program, ProgramAnswer } from '../../tasks/task/program.ts'

/** An event of the worker: a program is to be called, outside of it. Answered by `program_answers`
 * of the same id. */
export interface RunProgram {
  readonly type: 'run_program'
  readonly id: string
  readonly program: Program
  /** The function that is called. */
  readonly entry: string
  readonly calls: readonly CallArguments[]
}

/** A command to the worker: what a `run_program` made of its calls, or why it could not run at
 * all. */
export interface ProgramAnswers {
  readonly type: 'program_answers'
  readonly id: string
  readonly answers: readonly ProgramAnswer[]
  readonly failed?: string
}
