// Runs programs on the page: each in a sandbox of its own, JavaScript in QuickJS and Python in
// Pyodide, whose files are the page's own and are loaded when they are needed.
import quickjs from '@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module?url'
import quickjsWasm from '@jitl/quickjs-ng-wasmfile-release-sync/wasm?url'
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
} from '../../tasks/task/program.ts'
import { startFrameGuest } from './frame_guest.ts'
import { modulesFor, type PackageLock } from './modules/modules.ts'
import { ProgramSandbox } from './program_sandbox.ts'

/** The files of each engine. */
const ENGINES = {
  javascript: { 'quickjs.mjs': quickjs, 'quickjs.wasm': quickjsWasm },
  python: {
    'pyodide.mjs': loader,
    'pyodide.asm.mjs': asm,
    'pyodide.asm.wasm': wasm,
    'pyodide-lock.json': lock,
    'python_stdlib.zip': library,
  },
}
type Language = keyof typeof ENGINES
type Files = Readonly<Record<string, Uint8Array>>
/** Programs that stay ready: those of one experiment, and one that is being tried. */
const MOST_READY = 4

/** By language, function and text. */
const ready = new Map<string, ProgramSandbox>()
const engines = new Map<Language, Promise<Files>>()

/** Calls a function of a program once for each of `calls`. Rejects where the program cannot run at
 * all. */
export async function callOnPage(
  program: Program,
  entry: string,
  calls: readonly CallArguments[],
): Promise<readonly ProgramAnswer[]> {
  const language = languageOf(program.name)
  const key = `${language} ${entry} ${program.source}`
  const known = ready.get(key)
  const files = await engineFiles(language)
  const { source, name } = program
  const order = { language, source, name, entry, files }
  const sandbox =
    known ??
    new ProgramSandbox(startFrameGuest, language === 'python' ? await withModules(order) : order)
  // The one that was used last comes last.
  ready.delete(key)
  ready.set(key, sandbox)
  for (const [old] of [...ready].slice(0, -MOST_READY)) {
    ready.get(old)?.end()
    ready.delete(old)
  }
  return sandbox.call(calls, program)
}

/** The addresses of the files of modules that the build has found beside their list, by the names
 * of the files. */
const WHEELS = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>('./modules/wheels/*.whl', {
      query: '?url',
      import: 'default',
      eager: true,
    }),
  ).map(([path, address]) => [path.split('/').at(-1) ?? '', address]),
)
const wheels = new Map<string, Promise<Files>>()

/** A program with the modules that it imports, each fetched once. */
async function withModules<T extends { readonly source: string; readonly files: Files }>(order: T) {
  const lock = JSON.parse(new TextDecoder().decode(order.files['pyodide-lock.json'])) as PackageLock
  const modules = modulesFor(order.source, lock, (file) => Object.hasOwn(WHEELS, file))
  const found = Object.values(modules.packages).map(({ file_name }) => {
    const own = wheels.get(file_name) ?? fetchFiles({ [file_name]: WHEELS[file_name] })
    wheels.set(file_name, own)
    own.catch(() => wheels.delete(file_name))
    return own
  })
  return { ...order, modules, files: Object.assign({}, order.files, ...(await Promise.all(found))) }
}

async function engineFiles(language: Language): Promise<Files> {
  const files = engines.get(language) ?? fetchFiles(ENGINES[language])
  engines.set(language, files)
  try {
    return await files
  } catch (error) {
    // The host may be there again.
    engines.delete(language)
    throw error
  }
}

async function fetchFiles(addresses: Readonly<Record<string, string>>): Promise<Files> {
  const files = Object.entries(addresses).map(async ([name, address]) => {
    const answer = await fetch(address)
    if (!answer.ok)
      throw new Error(`the program's engine could not be loaded: ${name} is not on the host`)
    return [name, new Uint8Array(await answer.arrayBuffer())] as const
  })
  return Object.fromEntries(await Promise.all(files))
}
