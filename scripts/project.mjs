// Holds what the commands in this folder share: installing, freshness, running tools. Needs nothing
// but Node.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository. Every command runs here, wherever it was called from. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(ROOT)

/** Runs a program. `output: 'quiet'` collects what it writes instead of showing it. A `watch`
 * (stage_watch.mjs) hears that, and the program with all that it started is ended when it is
 * overdue.
 * Resolves with its exit code (1 when it could not start or was killed), what it wrote, and why it
 * was ended, if it was. */
export function run(command, args, { output = 'show', env = {}, timeout_ms, watch, limits } = {}) {
  const stdio = { show: 'inherit', quiet: ['ignore', 'pipe', 'pipe'] }[output]
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio,
      env: { ...process.env, ...env },
      timeout: timeout_ms,
      // A group of its own, which can be ended as a whole.
      detached: watch !== undefined && process.platform !== 'win32',
      // npm is a .cmd file on Windows, which only a shell can start.
      shell: process.platform === 'win32' && command === 'npm',
    })
    let text = ''
    const keep = (chunk) => {
      text += chunk
      watch?.hear(chunk, performance.now())
    }
    const ending = watch && endOverdue(child, watch, limits)
    child.stdout?.setEncoding('utf8').on('data', keep)
    child.stderr?.setEncoding('utf8').on('data', keep)
    child.on('error', (error) => {
      ending?.clear()
      resolve({ code: 1, text: `${command}: ${error.message}` })
    })
    child.on('close', (code, signal) => {
      ending?.clear()
      if (signal) text += `\n${command} ${args[0] ?? ''} was stopped by ${signal}.`
      resolve({ code: code ?? 1, text, ended: ending?.why() })
    })
  })
}

const CHECK_MS = 1000
/** How long a program may take to end on its own. */
const PATIENCE_MS = 10_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Ends a program that is overdue, and with this process: a group of its own hears of no Ctrl-C. */
function endOverdue(child, watch, limits) {
  let why
  const kill = (signal) => {
    try {
      if (process.platform === 'win32') child.kill(signal)
      else process.kill(-child.pid, signal)
    } catch {
      // It has ended by now.
    }
  }
  const timer = setInterval(() => {
    const overdue = why === undefined && watch.overdue(performance.now(), limits)
    if (!overdue) return
    why = overdue
    kill('SIGTERM')
    setTimeout(() => kill('SIGKILL'), PATIENCE_MS).unref()
  }, CHECK_MS)
  const onSignal = (signal) => {
    kill(signal)
    process.exit(130)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    why: () => why,
    clear: () => {
      clearInterval(timer)
      for (const signal of SIGNALS) process.off(signal, onSignal)
      // Whatever it left running.
      if (why !== undefined) kill('SIGKILL')
    },
  }
}

/** Runs a command of an installed package, e.g. `tool('vite', ['build'])`, without going through
 * npm. */
export function tool(name, args, options = {}) {
  const packages = { biome: '@biomejs/biome', tsc: 'typescript', playwright: '@playwright/test' }
  const manifest = join(ROOT, 'node_modules', packages[name] ?? name, 'package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  const file = join(dirname(manifest), typeof bin === 'string' ? bin : bin[name])
  return run(process.execPath, [file, ...args], options)
}

/** True when every package that package-lock.json asks for is there in that version. */
function isInstalled() {
  const read = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages
  try {
    const present = read('node_modules/.package-lock.json')
    // Optional packages are the other platforms' builds.
    return Object.entries(read('package-lock.json')).every(
      ([path, { version, optional }]) => !path || optional || present[path]?.version === version,
    )
  } catch {
    return false
  }
}

/** Installs exactly what package-lock.json names, unless it is there already. Ends the process on
 * failure. */
export async function installMissing() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Understory needs Node 20.19 or newer; this is ${process.versions.node}.`)
    process.exit(1)
  }
  if (isInstalled()) return
  console.error('Installing dependencies (npm ci) …')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env.npm_execpath
  const { code, text } = npm?.endsWith('.js')
    ? await run(process.execPath, [npm, ...args], { output: 'quiet' })
    : await run('npm', args, { output: 'quiet' })
  if (code === 0) return
  console.error(`${text.trim()}\nnpm ci failed: the dependencies could not be installed.`)
  process.exit(1)
}

/** True when a file or anything below a folder is newer than `output`, or `output` is not there. */
export function isStale(output, sources) {
  let built
  try {
    built = statSync(join(ROOT, output)).mtimeMs
  } catch {
    return true
  }
  const isNewer = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return false
    if (stat.isDirectory()) return readdirSync(path).some((name) => isNewer(join(path, name)))
    return stat.mtimeMs > built
  }
  return sources.some((source) => isNewer(join(ROOT, source)))
}

/** Vite, loaded from the project once it is installed. */
export const loadVite = () => import(createRequire(join(ROOT, 'package.json')).resolve('vite'))

/** Everything that the built page depends on. */
export const APP_SOURCES = ['src', 'public', 'index.html', 'vite.config.ts', 'package-lock.json']
