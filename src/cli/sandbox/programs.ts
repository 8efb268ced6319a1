// Programs of `lab train`: each in a process of its own that is ended with the run.
import { ProgramSandbox } from '../../lab/sandbox/program_sandbox.ts'
import { installProgramRunner, languageOf, type ProgramAnswer } from '../../tasks/program.ts'
import { ProgramCounts, type ProgramFacts } from '../../tasks/program_facts.ts'
import { tell } from '../terminal.ts'
import { startProcessGuest } from './process_guest.ts'

let counts = new ProgramCounts()

/** What became of the programs' calls since `runPrograms`. */
export const programFacts = (): readonly ProgramFacts[] => counts.facts

/** From now on programs are called. Returns what ends their processes, without which this one would not end either. */
export function runPrograms(): () => void {
  const sandboxes = new Map<string, ProgramSandbox>()
  counts = new ProgramCounts()
  const counted = counts
  installProgramRunner((program, entry, calls) => {
    const { code, name, source, ...limits } = program
    const order = { language: languageOf(name), name, source, entry }
    const key = `${entry} ${code}`
    const sandbox = sandboxes.get(key) ?? new ProgramSandbox(startProcessGuest, order)
    sandboxes.set(key, sandbox)
    const answers = sandbox.call(calls, limits)
    const hear = (all: readonly ProgramAnswer[]) => {
      counted.add(program, entry, all)
      tellPrinted(name, all)
    }
    void answers.then(hear).catch(() => {})
    return answers
  })
  return () => {
    for (const sandbox of sandboxes.values()) sandbox.end()
    sandboxes.clear()
  }
}

/** Lines of one batch that are shown. */
const MOST_LINES = 10

/** What a program printed in a batch, its last lines with its name before each. */
function tellPrinted(name: string, answers: readonly ProgramAnswer[]): void {
  const lines = answers.flatMap(({ printed = '' }) => printed.trimEnd().split('\n'))
  const last = lines.filter((line) => line !== '').slice(-MOST_LINES)
  for (const line of last) tell(`[${name}] ${line}`)
}
