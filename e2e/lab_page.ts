// Shows the page as the browser tests see it: its controls by name, what its worker said, and a
// clean console.
import { test as base, expect, type Page } from '@playwright/test'
import type { Tab } from '../src/document/links/view.ts'
import type { LabEvent } from '../src/host/protocol/protocol.ts'
import { type Host, openHost } from './host.ts'

declare global {
  interface Window {
    /** Every message of the worker, in order, but that it is alive. */
    labEvents: LabEvent[]
  }
}

/** Of a link: kernels that Chromium's software adapter compiles in half the time. Most tests are
 * about something else. */
export const QUICK = '&kernels=*:vector_4x4'

/** Of a test that runs only where LONG_TESTS is set (playwright.config.ts): other tests watch over
 * its parts. */
export const LONG_ONLY = { tag: '@long' }

export type StepEvent = Extract<LabEvent, { type: 'step' }>

/** What folds up in the tab Inside and in the inspector. */
const FOLDS = [
  'flow lens delta cosine suggested target heat final-entropy pass',
  'parts live-parts learned patching readings probes steering writing',
].flatMap((ids) => ids.split(' '))

/** As a person left them who opened them all. */
function openFolds(ids: readonly string[]): void {
  try {
    const all = Object.fromEntries(ids.map((id) => [id, true]))
    if (localStorage.getItem('understory.folds') === null)
      localStorage.setItem('understory.folds', JSON.stringify(all))
  } catch {
    // A frame in a sandbox has no storage.
  }
}

export class LabPage {
  readonly page: Page
  #isHeard = false
  #isFirstVisit = false
  constructor(page: Page) {
    this.page = page
  }

  /** Opens the page; `link` is a share link's query. */
  async open(link = '', address = './'): Promise<void> {
    if (!this.#isHeard) await this.#hear()
    await this.page.goto(link ? `${address}?${link}` : address)
  }

  /** Leaves what folds up as a first visit finds it; else a test finds all of it open. To be called
   * before `open`. */
  asFirstVisit(): void {
    this.#isFirstVisit = true
  }

  /** Has runs looked at for open panels alone. To be called before `open`. */
  async withoutMoments(): Promise<void> {
    await this.page.addInitScript(() =>
      localStorage.setItem('understory.ui', JSON.stringify({ moments_on: false })),
    )
  }

  /** The worker's own numbers, bit by bit: what the page shows is rounded. */
  async #hear(): Promise<void> {
    this.#isHeard = true
    if (!this.#isFirstVisit) await this.page.addInitScript(openFolds, FOLDS)
    await this.page.addInitScript(() => {
      window.labEvents = []
      const Native = window.Worker
      window.Worker = class extends Native {
        constructor(...args: ConstructorParameters<typeof Worker>) {
          super(...args)
          this.addEventListener('message', ({ data }) => {
            if (data.type !== 'alive') window.labEvents.push(data)
          })
        }
      }
    })
  }

  get = (id: string) => this.page.getByTestId(id)

  /** Opens one of the page's parts. */
  show = (tab: Tab) => this.get(`tab-${tab}`).click()

  /** Drops files or folders of the disk on the page, as a mouse does. */
  async drop(...files: string[]): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page)
    const event = { x: 300, y: 300, data: { items: [], files, dragOperationsMask: 1 } }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...event })
    await session.detach()
  }

  async waitForStatus(status: string, timeout = 60_000): Promise<void> {
    await expect(this.get('status')).toHaveAttribute('data-status', status, { timeout })
  }

  /** A number as the page shows it; NaN for a dash. */
  async number(id: string): Promise<number> {
    const text = await this.get(id).innerText()
    return Number.parseFloat(text.replaceAll(',', '').replaceAll('−', '-'))
  }

  async waitForStep(step: number, timeout = 120_000): Promise<void> {
    await expect.poll(() => this.number('step-count'), { timeout }).toBeGreaterThanOrEqual(step)
  }

  events = (): Promise<LabEvent[]> => this.page.evaluate(() => window.labEvents)

  /** The steps of the newest run. */
  async steps(): Promise<StepEvent[]> {
    const steps = (await this.events()).filter((event) => event.type === 'step')
    const run = steps.at(-1)?.run
    return steps.filter((event) => event.run === run)
  }
}

/** What a run measured, without what the clock says, from its metrics as JSON lines. */
export const measured = (lines: string): unknown[] =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { step, data } = JSON.parse(line)
      const kept = Object.entries(data).filter(([name]) => !/^(timing_|perf\/)/.test(name))
      return { step, data: Object.fromEntries(kept) }
    })

/** Puts what the page's console says into `lines`. */
export function followConsole(page: Page, lines: string[]): void {
  page.on('console', (message) => {
    // The tests' own doing (playwright.config.ts).
    if (!message.text().startsWith('Service Worker registration blocked'))
      lines.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => lines.push(`uncaught: ${error.message}`))
}

/** Tests with a page whose console must stay empty, and that has a worker of its own. */
export const test = base.extend<{ lab: LabPage; consoleLines: string[] }, { host: Host }>({
  // Here, as tests of one set of fixtures run in one browser.
  host: [
    async ({ browser }, use) => {
      const host = await openHost(browser)
      await use(host)
      await host.context.close()
    },
    { scope: 'worker' },
  ],
  consoleLines: async ({ page }, use) => {
    const lines: string[] = []
    followConsole(page, lines)
    page.on('requestfailed', (request) => {
      // A page that is left lets go of what it was still loading.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED')
        lines.push(`request failed: ${request.url()}`)
    })
    await use(lines)
    expect(lines, 'the console').toEqual([])
  },
  lab: async ({ page, consoleLines }, use) => {
    expect(consoleLines).toEqual([])
    await use(new LabPage(page))
  },
})

export { expect }
