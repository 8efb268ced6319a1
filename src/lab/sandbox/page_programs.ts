// Runs programs on the page: each in a sandbox of its own, Python in Pyodide, whose files are the page's own and are loaded when they are needed.
import asm from 'pyodide/pyodide.asm.mjs?url'
import wasm from 'pyodide/pyodide.asm.wasm?url'
import loader from 'pyodide/pyodide.mjs?url'
import lock from 'pyodide/pyodide-lock.json?url'
import library from 'pyodide/python_stdlib.zip?url'
import {
  type CallArguments,
  languageOf,
  type Program,
  type ProgramAnswer,
} from '../../tasks/program.ts'
import { startFrameGuest } from './frame_guest.ts'
import { ProgramSandbox } from './program_sandbox.ts'

const PYODIDE = {
  'pyodide.mjs': loader,
  'pyodide.asm.mjs': asm,
  'pyodide.asm.wasm': wasm,
  'pyodide-lock.json': lock,
  'python_stdlib.zip': library,
}
/** Programs that stay ready: those of one experiment, and one that is being tried. */
const MOST_READY = 4

/** By language, function and text. */
const ready = new Map<string, ProgramSandbox>()
let pyodide: Promise<Readonly<Record<string, Uint8Array>>> | undefined

/** Calls a function of a program once for each of `calls`. Rejects where the program cannot run at all. */
export async function callOnPage(
  program: Program,
  entry: string,
  calls: readonly CallArguments[],
): Promise<readonly ProgramAnswer[]> {
  const language = languageOf(program.name)
  const key = `${language} ${entry} ${program.source}`
  const known = ready.get(key)
  const files = language === 'python' ? await pyodideFiles() : undefined
  const { name, source } = program
  const sandbox =
    known ??
    new ProgramSandbox(startFrameGuest, { language, name, source, entry, ...(files && { files }) })
  // The one that was used last comes last.
  ready.delete(key)
  ready.set(key, sandbox)
  for (const [old] of [...ready].slice(0, -MOST_READY)) {
    ready.get(old)?.end()
    ready.delete(old)
  }
  return sandbox.call(calls, program)
}

async function pyodideFiles(): Promise<Readonly<Record<string, Uint8Array>>> {
  pyodide ??= Promise.all(
    Object.entries(PYODIDE).map(async ([name, address]) => {
      const answer = await fetch(address)
      if (!answer.ok) throw new Error(`Python could not be loaded: ${name} is not on the host`)
      return [name, new Uint8Array(await answer.arrayBuffer())] as const
    }),
  ).then(Object.fromEntries)
  try {
    return await pyodide
  } catch (error) {
    // The host may be there again.
    pyodide = undefined
    throw error
  }
}
