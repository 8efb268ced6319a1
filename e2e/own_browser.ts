// Opens a browser of a test's own, on a profile that outlives it, that can be killed at any moment.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type LaunchOptions, type Page } from '@playwright/test'

export interface OwnBrowser {
  readonly browser: Browser
  readonly page: Page
  /** Ends all its processes at once, as a crash or a power switch does. */
  kill(): Promise<void>
}

const START_MS = 60_000
const LOOK_MS = 50

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The address that DevTools are served at, once the browser has written it down. */
async function endpointOf(profile: string, child: ChildProcess): Promise<string> {
  const file = join(profile, 'DevToolsActivePort')
  for (let waited = 0; waited < START_MS; waited += LOOK_MS) {
    if (child.exitCode !== null) throw new Error(`Chromium ended with ${child.exitCode}`)
    const [port, path] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    if (port && path) return `ws://127.0.0.1:${port}${path}`
    await sleep(LOOK_MS)
  }
  throw new Error('Chromium did not start')
}

/** Starts Chromium on `profile`, a folder. `options` are the project's launch options. */
export async function openOwn(profile: string, options: LaunchOptions = {}): Promise<OwnBrowser> {
  rmSync(join(profile, 'DevToolsActivePort'), { force: true })
  const child = spawn(
    options.executablePath ?? chromium.executablePath(),
    [
      ...(options.args ?? []),
      '--headless=new',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      '--no-default-browser-check',
      '--hide-crash-restore-bubble',
      'about:blank',
    ],
    // A group of its own, so that no process of it is left.
    { stdio: 'ignore', detached: true },
  )
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
    await gone
  }
  try {
    const browser = await chromium.connectOverCDP(await endpointOf(profile, child))
    const [context] = browser.contexts()
    const page = context.pages()[0] ?? (await context.newPage())
    return { browser, page, kill }
  } catch (error) {
    await kill()
    throw error
  }
}
