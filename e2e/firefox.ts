// Drives a Firefox that is installed on this machine by WebDriver BiDi: Playwright drives only
// a Firefox of its own build. Node 20 has no WebSocket, so this one is ws.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import WebSocket from 'ws'

const NAMES = ['firefox-esr', 'firefox']
const START_MS = 60_000

/** The executable: what FIREFOX names, else the first in PATH; undefined where there is none. */
export function findFirefox(): string | undefined {
  const { FIREFOX, PATH = '' } = process.env
  if (FIREFOX) return FIREFOX
  const places = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return places.find((place) => existsSync(place))
}

/** WebGPU is off, as it is in the Firefox of most people; nothing is asked of the network; and the
 * theme is the page's own. */
const PREFERENCES = {
  'dom.webgpu.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'app.update.disabledForTesting': true,
  'ui.prefersReducedMotion': 1,
}

interface Message {
  readonly id?: number
  readonly type: string
  readonly method?: string
  readonly params?: { readonly level?: string; readonly text?: string }
  readonly result?: unknown
  readonly error?: string
  readonly message?: string
}

interface Answer {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** The commands of a session, and what the page's console says. */
async function connect(address: string) {
  const socket = new WebSocket(address)
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const waiting = new Map<number, Answer>()
  const lines: string[] = []
  socket.on('message', (data) => {
    const said = JSON.parse(data.toString()) as Message
    if (said.method === 'log.entryAdded') lines.push(`${said.params?.level}: ${said.params?.text}`)
    const answer = waiting.get(said.id ?? -1)
    if (!answer) return
    waiting.delete(said.id ?? -1)
    if (said.type === 'success') answer.resolve(said.result)
    else answer.reject(new Error(`Firefox: ${said.error}: ${said.message}`))
  })
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox has ended'))
  })
  let last = 0
  const send = <T>(method: string, params: object): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve: (result) => resolve(result as T), reject })
      socket.send(JSON.stringify({ id, method, params }))
    })
  return { send, lines, close: () => socket.close() }
}

/** The address that Firefox says it listens at. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('Firefox did not start')), START_MS)
    let said = ''
    child.stderr?.on('data', (data) => {
      said += data
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? []
      if (!address) return
      clearTimeout(late)
      resolve(`${address}/session`)
    })
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`Firefox ended with ${code}: ${said.slice(-400)}`))
    })
  })
}

export interface Firefox {
  /** What the page's console said, and errors that nothing caught. */
  readonly lines: readonly string[]
  open(address: string): Promise<void>
  /** The value of an expression in the page, awaited. It must be JSON. */
  ask<T>(expression: string): Promise<T>
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  close(): Promise<void>
}

const WAIT_MS = 30_000

/** Starts Firefox without a window, on a fresh profile. */
export async function openFirefox(executable: string): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), 'understory-firefox-'))
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${value});`,
  )
  writeFileSync(join(profile, 'user.js'), lines.join('\n'))
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0']
  const child = spawn(executable, [...args, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that no process of it is left.
    detached: true,
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const close = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    await gone
    rmSync(profile, { recursive: true, force: true })
  }
  try {
    const session = await connect(await addressOf(child))
    await session.send('session.new', { capabilities: {} })
    await session.send('session.subscribe', { events: ['log.entryAdded'] })
    const { contexts } = await session.send<{ contexts: { context: string }[] }>(
      'browsingContext.getTree',
      {},
    )
    return { ...pageOf(session, contexts[0].context), close }
  } catch (error) {
    await close()
    throw error
  }
}

function pageOf(
  { send, lines }: Awaited<ReturnType<typeof connect>>,
  context: string,
): Omit<Firefox, 'close'> {
  const ask = async <T>(expression: string): Promise<T> => {
    const said = await send<{
      readonly type: string
      readonly result?: { readonly value?: string }
      readonly exceptionDetails?: { readonly text: string }
    }>('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context },
      awaitPromise: true,
    })
    if (said.type === 'exception') throw new Error(`In Firefox: ${said.exceptionDetails?.text}`)
    return JSON.parse(said.result?.value ?? 'null') as T
  }
  return {
    lines,
    ask,
    open: async (url) => {
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    until: async (expression) => {
      for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
        if (await ask<boolean>(`Boolean(${expression})`)) return
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      throw new Error(`In Firefox this never became true: ${expression}`)
    },
    resize: async (width, height) => {
      await send('browsingContext.setViewport', { context, viewport: { width, height } })
    },
  }
}
