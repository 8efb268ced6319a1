// Runs guests on the command line: a process of Node that the system confines (confine.ts), without
// Node's rights to files, processes and threads and without code made of texts. It is killed when
// its time is over or its memory grows too large.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { PROCESS_CODE } from '../../host/sandbox/guest_code.ts'
import type { Guest, GuestHearer, ProgramOrder } from '../../host/sandbox/program_sandbox.ts'
import { type Confinement, confinement, TOOL_PATH } from './confine.ts'
import { watchMemory } from './memory_watch.ts'

/** The limit of JavaScript's heap, in megabytes. The engines' own memories have limits in the
 * guest. */
const MOST_HEAP = 256
/** The limit of the whole process, in megabytes. */
const MOST_MEMORY = 768
/** A line is at most so long, as on the page. */
const LONGEST_LINE = 65_536

/** What each engine consists of: a file's name in the guest, the installed package and the path in
 * it. */
const ENGINES = {
  javascript: {
    package: '@jitl/quickjs-ng-wasmfile-release-sync',
    files: {
      'quickjs.mjs': 'dist/emscripten-module.browser.mjs',
      'quickjs.wasm': 'dist/emscripten-module.wasm',
    },
  },
  python: {
    package: 'pyodide',
    files: {
      'pyodide.mjs': 'pyodide.mjs',
      'pyodide.asm.mjs': 'pyodide.asm.mjs',
      'pyodide.asm.wasm': 'pyodide.asm.wasm',
      'pyodide-lock.json': 'pyodide-lock.json',
      'python_stdlib.zip': 'python_stdlib.zip',
    },
  },
} as const

function engineFiles(language: ProgramOrder['language']): Readonly<Record<string, Uint8Array>> {
  const { package: name, files } = ENGINES[language]
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  return Object.fromEntries(
    Object.entries(files).map(([own, path]) => [own, readFileSync(join(folder, path))]),
  )
}

/** Node 20 calls it experimental. */
const permission = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

const FLAGS = [
  permission,
  '--no-warnings',
  // Modules that are texts, and that have no import().
  '--experimental-vm-modules',
  // No eval and no Function: whatever a program gets hold of, it cannot make code of a text.
  '--disallow-code-generation-from-strings',
  `--max-old-space-size=${MOST_HEAP}`,
]

/** Node, and what starts it confined. */
const nodeIn = ({ prefix }: Confinement) => (prefix.length > 0 ? prefix : [process.execPath])

/** Starts a guest in a process of its own. */
export function startProcessGuest(
  { files: more = {}, ...order }: ProgramOrder,
  hearer: GuestHearer,
  confined = confinement(),
): Guest {
  const files = { ...engineFiles(order.language), ...more }
  const [command, ...args] = [...nodeIn(confined), ...FLAGS, '-e', PROCESS_CODE]
  const child = spawn(command, args, {
    env: { PATH: TOOL_PATH },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const [stdin, stdout, stderr, pipe] = child.stdio as unknown as [
    Writable,
    Readable,
    Readable,
    Writable,
  ]
  let allowed = 1
  let isOver = false
  let rest = ''
  let said = ''
  const end = (why?: string) => {
    if (isOver) return
    isOver = true
    endWatch()
    child.kill('SIGKILL')
    if (why !== undefined) hearer.ended(why)
  }
  const endWatch = watchMemory(child.pid ?? 0, MOST_MEMORY * 2 ** 20, () =>
    end(`it used more than ${MOST_MEMORY} MB of memory`),
  )
  const hear = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (isOver) return
      if (allowed-- <= 0) end('it said more than it was asked')
      else if (line.length > LONGEST_LINE) end('it said something that is no line')
      else hearer.line(line)
    }
    if (rest.length > LONGEST_LINE) end('it said something that is no line')
  }
  stdout.setEncoding('utf8').on('data', hear)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 4000)
  })
  child.on('error', ({ message }) => end(message))
  child.on('close', () => end(/heap out of memory/.test(said) ? 'out of memory' : lastLine(said)))
  // A process that has ended takes nothing more.
  for (const taken of [stdin, pipe]) taken.on('error', () => {})
  const lengths = Object.entries(files).map(([name, bytes]) => [name, bytes.length])
  stdin.write(`${JSON.stringify({ ...order, lengths })}\n`)
  for (const bytes of Object.values(files)) pipe.write(bytes)
  pipe.end()
  return {
    ask(text, lines) {
      allowed += lines
      stdin.write(`${text}\n`)
    },
    end: () => end(),
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) || 'its process ended'
