// Programs of `lab train`: each in a process of its own that is ended with the run.
import { ProgramSandbox } from '../../lab/sandbox/program_sandbox.ts'
import { installProgramRunner, languageOf } from '../../tasks/program.ts'
import { startProcessGuest } from './process_guest.ts'

/** From now on programs are called. Returns what ends their processes, without which this one would not end either. */
export function runPrograms(): () => void {
  const sandboxes = new Map<string, ProgramSandbox>()
  installProgramRunner(({ code, name, source, ...limits }, entry, calls) => {
    const order = { language: languageOf(name), source, entry }
    const key = `${entry} ${code}`
    const sandbox = sandboxes.get(key) ?? new ProgramSandbox(startProcessGuest, order)
    sandboxes.set(key, sandbox)
    return sandbox.call(calls, limits)
  })
  return () => {
    for (const sandbox of sandboxes.values()) sandbox.end()
    sandboxes.clear()
  }
}
