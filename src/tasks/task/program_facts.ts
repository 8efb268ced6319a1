// Counts the calls of a person's programs, and keeps their first error and the last of what they
// printed.
import type { Program, ProgramAnswer } from './program.ts'

export interface ProgramFacts {
  /** Of its file, and the function that was called; '' for the one that the file has by itself. */
  readonly name: string
  readonly function: string
  readonly calls: number
  /** Calls without a usable answer. */
  readonly errors: number
  readonly timeouts: number
  readonly first_error?: string
  readonly printed?: string
}

const MOST_PRINTED = 2000

export class ProgramCounts {
  readonly #facts = new Map<string, ProgramFacts>()

  /** Counts the answers to one batch of calls. */
  add({ code, name }: Program, entry: string, answers: readonly ProgramAnswer[]): void {
    const before = this.#facts.get(`${entry} ${code}`)
    const failed = answers.flatMap((own) => ('problem' in own ? [own] : []))
    const timeouts = failed.filter(({ problem }) => problem === 'timeout').length
    const first_error = before?.first_error ?? failed[0]?.message
    const said = answers.map(({ printed = '' }) => printed).join('')
    const printed = ((before?.printed ?? '') + said).slice(-MOST_PRINTED)
    this.#facts.set(`${entry} ${code}`, {
      name,
      function: entry,
      calls: (before?.calls ?? 0) + answers.length,
      errors: (before?.errors ?? 0) + failed.length - timeouts,
      timeouts: (before?.timeouts ?? 0) + timeouts,
      ...(first_error !== undefined && { first_error }),
      ...(printed !== '' && { printed }),
    })
  }

  get facts(): readonly ProgramFacts[] {
    return [...this.#facts.values()]
  }
}
