// Finds the Python that judges from outside what the lab writes. UNDERSTORY_PYTHON names one with
// torch, transformers and pyarrow (else python3); where it lacks what a test needs, the test is
// skipped.
import { spawnSync } from 'node:child_process'

export const PYTHON = process.env.UNDERSTORY_PYTHON || 'python3'
export const pythonEnv = { ...process.env, HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' }
/** Importing torch takes its time, and more of it on a busy machine. */
export const PATIENCE_MS = 900_000

/** Whether Python has all of these modules. */
export const hasModules = (...names: string[]): boolean => {
  const code = `import importlib.util as u, sys; sys.exit(any(u.find_spec(n) is None for n in ${JSON.stringify(names)}))`
  return spawnSync(PYTHON, ['-c', code]).status === 0
}
export const HAS_PYTHON = hasModules()

/** Runs a program with JSON as its input, and reads the JSON of its last line. */
export function python(code: string, input: unknown): unknown {
  const done = spawnSync(PYTHON, ['-c', code], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    env: pythonEnv,
    maxBuffer: 2 ** 28,
  })
  if (done.status !== 0) throw new Error(done.stderr.slice(-3000))
  return JSON.parse(done.stdout.trim().split('\n').at(-1) ?? '')
}
