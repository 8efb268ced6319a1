// Drives a separate Chromium by its debugging protocol: unlike under Playwright, a tab behind
// another one is hidden.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Starts a Chromium without a window. `send` resolves with a command's result and rejects with its
 * error; `on` is called with every event: its method, parameters and session. */
export function startChromium(executable, args) {
  const folder = mkdtempSync(join(tmpdir(), 'understory-chromium-'))
  const child = spawn(
    executable,
    ['--headless=new', '--remote-debugging-pipe', `--user-data-dir=${folder}`, ...args],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const [, , , to, from] = child.stdio
  const waiting = new Map()
  const listeners = []
  let [open, count] = ['', 0]
  const ended = new Promise((resolve) => child.on('close', resolve))
  ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('Chromium has ended'))
  })
  to.on('error', () => {})
  from.setEncoding('utf8').on('data', (text) => {
    const messages = (open + text).split('\0')
    open = messages.pop()
    for (const message of messages) take(JSON.parse(message))
  })
  function take({ id, result, error, method, params, sessionId }) {
    if (id === undefined) {
      for (const listener of listeners) listener(method, params, sessionId)
      return
    }
    const own = waiting.get(id)
    waiting.delete(id)
    if (error) own?.reject(new Error(`${own.method}: ${error.message}`))
    else own?.resolve(result)
  }
  return {
    on: (listener) => listeners.push(listener),
    send: (method, params = {}, sessionId = undefined) =>
      new Promise((resolve, reject) => {
        const id = ++count
        waiting.set(id, { method, resolve, reject })
        to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      }),
    close: async () => {
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A new tab in front of the others; `evaluate` runs an expression in it and resolves with its
 * value, as JSON. */
export async function openTab(chromium) {
  const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true })
  const send = (method, params) => chromium.send(method, params, sessionId)
  return {
    sessionId,
    send,
    evaluate: async (expression) => {
      const asked = { expression, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await send('Runtime.evaluate', asked)
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? 'failed')
      return result.value
    },
    toFront: () => chromium.send('Target.activateTarget', { targetId }),
    close: () => chromium.send('Target.closeTarget', { targetId }),
  }
}
