// The worker asks for a person's program to be called; the page has it called in a sandbox and hands the answers back.
import { onLabEvent, post } from '../client/connection.ts'

/** From now on the worker's programs are called. Returns how to stop. */
export const answerPrograms = (): (() => void) =>
  onLabEvent((event) => {
    if (event.type !== 'run_program') return
    const { id, program, entry, calls } = event
    void import('../../sandbox/page_programs.ts')
      .then(({ callOnPage }) => callOnPage(program, entry, calls))
      .then(
        (answers) => post({ type: 'program_answers', id, answers }),
        (error: Error) => post({ type: 'program_answers', id, answers: [], failed: error.message }),
      )
  })
