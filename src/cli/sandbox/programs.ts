// Runs programs of `lab train`: each in a process of its own that is ended with the run.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { modulesFor, type PackageLock } from '../../host/sandbox/modules/modules.ts'
import { type ProgramOrder, ProgramSandbox } from '../../host/sandbox/program_sandbox.ts'
import { installProgramRunner, languageOf, type ProgramAnswer } from '../../tasks/task/program.ts'
import { ProgramCounts, type ProgramFacts } from '../../tasks/task/program_facts.ts'
import { LabFailure } from '../base/command.ts'
import { projectRoot } from '../base/project_root.ts'
import { tell } from '../base/terminal.ts'
import { confinement } from './confine.ts'
import { startProcessGuest } from './process_guest.ts'

/** The folder of npm run python-modules. */
const WHEELS = join(projectRoot(), 'src/host/sandbox/modules/wheels')

/** The modules that a program imports, and their files. */
function modulesOf(source: string): Pick<ProgramOrder, 'modules' | 'files'> {
  const lock = createRequire(import.meta.url).resolve('pyodide/pyodide-lock.json')
  const packages = JSON.parse(readFileSync(lock, 'utf8')) as PackageLock
  const modules = modulesFor(source, packages, (file) => existsSync(join(WHEELS, file)))
  const files = Object.values(modules.packages).map(({ file_name }) => [
    file_name,
    new Uint8Array(readFileSync(join(WHEELS, file_name))),
  ])
  return { modules, files: Object.fromEntries(files) }
}

let counts = new ProgramCounts()

/** What became of the programs' calls since `runPrograms`. */
export const programFacts = (): readonly ProgramFacts[] => counts.facts

let isTrusted = false

/** Whether the person trusts programs that the system cannot confine (--trust-programs). */
export function trustPrograms(trusted: boolean): void {
  isTrusted = trusted
}

/** Throws LabFailure for a program that could do harm here, before anything of it runs. */
export function refuseUnconfined(name: string, { missing } = confinement()): void {
  if (missing === undefined || languageOf(name) !== 'python' || isTrusted) return
  throw new LabFailure(
    `${name}: Python cannot be confined on this machine: ${missing}. The program could read and change your files, use the network and ` +
      'end other processes. If you trust it, add --trust-programs. Programs in JavaScript run without it, and so do both on the page.',
  )
}

/** From now on programs are called. Returns what ends their processes, without which this one would
 * not end either. */
export function runPrograms(): () => void {
  const sandboxes = new Map<string, ProgramSandbox>()
  counts = new ProgramCounts()
  const counted = counts
  installProgramRunner((program, entry, calls) => {
    const { code, name, source, ...limits } = program
    refuseUnconfined(name)
    const language = languageOf(name)
    const order = { language, name, source, entry, ...(language === 'python' && modulesOf(source)) }
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
