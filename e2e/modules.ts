// Loads modules of the lab that load shaders as text: Playwright's loader does not, so vite loads
// them.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

/** A module below src/, by its path there. */
export async function labModule<T>(path: string): Promise<T> {
  const file = fileURLToPath(new URL(`../src/${path}`, import.meta.url))
  const { NODE_ENV } = process.env
  const { module } = await runnerImport<T>(file, { configFile: false, logLevel: 'error' })
  // Vite leaves its mode there, and a page that a test builds later would be one for development.
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  return module
}
