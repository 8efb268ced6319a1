// Serves a page that holds a worker for the pages of tests, one after the other: the GPU is opened
// and the kernels are compiled once.
import { readdirSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from '@playwright/test'

declare global {
  interface Window {
    /** Of the page that holds the worker: the worker listens to the port that came last. */
    lend(port: MessagePort): void
  }
}

export interface Host {
  readonly context: BrowserContext
  /** The one that holds the worker. */
  readonly page: Page
}

const ASSETS = 'dist/app/assets'

/** The worker listens to the port that came last, and to nobody else. */
function listenToPorts(): void {
  let port: MessagePort | undefined
  const scope = globalThis as unknown as { postMessage(message: unknown): void }
  scope.postMessage = (message) => port?.postMessage(message)
  addEventListener('message', ({ ports, data }) => {
    if (!ports[0]) return
    port?.close()
    port = ports[0]
    port.onmessage = (event) => dispatchEvent(new MessageEvent('message', { data: event.data }))
    port.postMessage(data.hello)
  })
}

/** On a page that the host has opened: its first worker is the one of the host. */
function borrowWorker(): void {
  const Own = window.Worker
  let hasBorrowed = false
  window.Worker = class extends EventTarget {
    readonly #channel = new MessageChannel()
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super()
      // A duel has a second one, and a frame of another page nobody to borrow from.
      // biome-ignore lint/correctness/noConstructorReturn: a real worker, in the place of one that borrows.
      if (hasBorrowed || !window.opener) return new Own(...args) as never
      hasBorrowed = true
      const { port1, port2 } = this.#channel
      port1.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent('message', { data }))
      window.opener.lend(port2)
    }
    postMessage(message: unknown, transfer: Transferable[] = []) {
      this.#channel.port1.postMessage(message, transfer)
    }
    terminate() {
      this.#channel.port1.close()
    }
  } as unknown as typeof Worker
}

/** Starts the worker, on a page that is otherwise empty. */
async function holdWorker(page: Page): Promise<void> {
  const script = readdirSync(ASSETS).find((name) => /^worker-.*\.js$/.test(name))
  if (!script) throw new Error(`no worker in ${ASSETS}`)
  // A page of the same site, with its headers.
  await page.goto('./licenses.txt')
  const starting = page.waitForEvent('worker')
  const greeted = page.evaluate((name) => {
    const worker = new Worker(`/assets/${name}`, { type: 'module' })
    return new Promise<void>((resolve) => {
      worker.onmessage = ({ data: hello }) => {
        worker.onmessage = null
        // For the worker it is the end of the run of the page before.
        window.lend = (port) => worker.postMessage({ type: 'stop', hello }, [port])
        resolve()
      }
    })
  }, script)
  const worker = await starting
  await greeted
  await worker.evaluate(listenToPorts)
}

export async function openHost(browser: Browser): Promise<Host> {
  const context = await browser.newContext({
    baseURL: `http://127.0.0.1:${process.env.E2E_PORT}/`,
    serviceWorkers: 'block',
    // The picture of a page that waits would keep a core busy; tests about motion ask for it.
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await holdWorker(page)
  return { context, page }
}

/** A new page that borrows the worker, with nothing stored. Pages that were opened before are
 * closed. */
export async function borrowingPage({ context, page: holder }: Host): Promise<Page> {
  for (const open of context.pages()) if (open !== holder) await open.close()
  const devtools = await context.newCDPSession(holder)
  const { origin } = new URL(holder.url())
  await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await devtools.detach()
  const coming = context.waitForEvent('page')
  await holder.evaluate(() => void window.open('about:blank'))
  const page = await coming
  await page.addInitScript(borrowWorker)
  return page
}
