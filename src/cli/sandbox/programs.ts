// Reward programs of `lab train`: each in a process of its own that is ended with the run.
import { ProgramSandbox } from '../../lab/sandbox/program_sandbox.ts'
import { installProgramRunner, languageOf } from '../../tasks/rewards/program.ts'
import { startProcessGuest } from './process_guest.ts'

/** From now on programs are called. Returns what ends their processes, without which this one would not end either. */
export function runPrograms(): () => void {
  const sandboxes = new Map<string, ProgramSandbox>()
  installProgramRunner(({ code, name, source, ...limits }, responses) => {
    const order = { language: languageOf(name), source, entry: 'compute_score' }
    const sandbox = sandboxes.get(code) ?? new ProgramSandbox(startProcessGuest, order)
    sandboxes.set(code, sandbox)
    return sandbox.call(
      responses.map((response) => ({ ...response })),
      limits,
    )
  })
  return () => {
    for (const sandbox of sandboxes.values()) sandbox.end()
    sandboxes.clear()
  }
}
