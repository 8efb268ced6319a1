// Guests on the command line: a process of Node without rights to files, processes and threads, with little memory, that is killed when its
// time is over.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { PROCESS_CODE } from '../../lab/sandbox/guest_code.ts'
import type { Guest, GuestHearer, ProgramOrder } from '../../lab/sandbox/program_sandbox.ts'

/** Of the heap of JavaScript. Pyodide's own memory has a limit in the guest. */
const MOST_MEGABYTES = 256
/** A line is at most so long, as on the page. */
const LONGEST_LINE = 65_536

/** Where Pyodide's files lie: the installed package. */
const pyodideFolder = () => dirname(createRequire(import.meta.url).resolve('pyodide/package.json'))

/** Node 20 calls it experimental. */
const permission = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** Starts a guest in a process of its own. */
export function startProcessGuest(order: ProgramOrder, hearer: GuestHearer): Guest {
  const folder = order.language === 'python' ? pyodideFolder() : undefined
  const flags = [
    permission,
    '--no-warnings',
    `--max-old-space-size=${MOST_MEGABYTES}`,
    ...(folder === undefined ? [] : [`--allow-fs-read=${folder}/*`]),
  ]
  const child = spawn(process.execPath, [...flags, '-e', PROCESS_CODE], {
    ...{ env: {}, cwd: folder ?? '/', stdio: ['pipe', 'pipe', 'pipe'] },
  })
  let allowed = 1
  let is_over = false
  let rest = ''
  let said = ''
  const end = (why?: string) => {
    if (is_over) return
    is_over = true
    child.kill('SIGKILL')
    if (why !== undefined) hearer.ended(why)
  }
  const hear = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (is_over) return
      if (allowed-- <= 0) end('it said more than it was asked')
      else if (line.length > LONGEST_LINE) end('it said something that is no line')
      else hearer.line(line)
    }
    if (rest.length > LONGEST_LINE) end('it said something that is no line')
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 4000)
  })
  child.on('error', ({ message }) => end(message))
  child.on('close', () => end(/heap out of memory/.test(said) ? 'out of memory' : lastLine(said)))
  // A process that has ended takes nothing more.
  child.stdin.on('error', () => {})
  child.stdin.write(`${JSON.stringify({ ...order, folder })}\n`)
  return {
    ask(text, lines) {
      allowed += lines
      child.stdin.write(`${text}\n`)
    },
    end: () => end(),
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) || 'its process ended'
