// Has a person's programs called in a sandbox when the worker asks, and hands the answers back.
// What became of the calls of the newest run is counted.
import { createStore } from 'zustand/vanilla'
import type { ProgramCounts, ProgramFacts } from '../../tasks/task/program_facts.ts'
import { onLabEvent, post } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'

/** What became of the calls of the programs of a run. */
export const programStore = createStore<readonly ProgramFacts[]>(() => [])

let counted: { readonly run: number; readonly counts: ProgramCounts } | undefined

function countsOfRun(Counts: typeof ProgramCounts): ProgramCounts {
  const { run } = labStore.getState()
  if (counted?.run !== run) counted = { run, counts: new Counts() }
  return counted.counts
}

/** From now on the worker's programs are called. Returns how to stop. */
export const answerPrograms = (): (() => void) =>
  onLabEvent((event) => {
    if (event.type !== 'run_program') return
    const { id, program, entry, calls } = event
    const answered = async () => {
      const { callOnPage } = await import('../../host/sandbox/page_programs.ts')
      const { ProgramCounts: Counts } = await import('../../tasks/task/program_facts.ts')
      const answers = await callOnPage(program, entry, calls)
      const counts = countsOfRun(Counts)
      counts.add(program, entry, answers)
      programStore.setState(counts.facts, true)
      return answers
    }
    answered().then(
      (answers) => post({ type: 'program_answers', id, answers }),
      (error: Error) => post({ type: 'program_answers', id, answers: [], failed: error.message }),
    )
  })
