// Asks the page to run a person's programs, which never run in the worker, and waits.
import type { CallArguments, Program, ProgramAnswer } from '../../tasks/task/program.ts'
import type { ProgramAnswers, RunProgram } from './messages.ts'

export class ProgramCalls {
  readonly #post: (event: RunProgram) => void
  readonly #waiting = new Map<
    string,
    { resolve(answers: readonly ProgramAnswer[]): void; reject(error: Error): void }
  >()

  constructor(post: (event: RunProgram) => void) {
    this.#post = post
  }

  /** One answer to each call of the function `entry`. Rejects where the program cannot run at
   * all. */
  ask(
    program: Program,
    entry: string,
    calls: readonly CallArguments[],
  ): Promise<readonly ProgramAnswer[]> {
    // Answers to a worker that has died may come to the one in its place.
    const id = crypto.randomUUID()
    const answers = new Promise<readonly ProgramAnswer[]>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#post({ type: 'run_program', id, program, entry, calls })
    return answers
  }

  hear({ id, answers, failed }: ProgramAnswers): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (failed === undefined) waiting?.resolve(answers)
    else waiting?.reject(new Error(failed))
  }
}
