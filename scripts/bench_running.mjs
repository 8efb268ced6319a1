// Measures a run of the built page as a person has it: from Train to its first step, its steps,
// what they cost the page's own thread, and the benchmark's card.
import { freshPage, isReady, serveApp } from './bench_opening.mjs'

/** Steps are counted from the first one on, until there are so many or so long. */
const MOST_STEPS = 60
const WINDOW_MS = 20_000
/** A software adapter compiles for a while before the first step. */
const FIRST_STEP_MS = 300_000
const CARD_MS = 300_000

/** Notes when the page hears of each step. */
function followSteps() {
  globalThis.benchSteps = []
  const Native = globalThis.Worker
  globalThis.Worker = class extends Native {
    constructor(...args) {
      super(...args)
      this.addEventListener('message', ({ data }) => {
        if (data.type === 'step') globalThis.benchSteps.push(performance.now())
      })
    }
  }
}

const threadMs = async (devtools) => {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value
}

/** The run that a newcomer finds. */
async function trained(browser, url) {
  const { context, page, devtools } = await freshPage(browser)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.addInitScript(followSteps)
  await page.goto(url)
  await isReady(page)
  const pressed = await page.evaluate(() => performance.now())
  await page.getByTestId('train').click()
  await page.waitForFunction(() => globalThis.benchSteps.length > 0, undefined, {
    timeout: FIRST_STEP_MS,
  })
  const busy = await threadMs(devtools)
  const isOver = ([most, ms]) => {
    const [first, ...others] = globalThis.benchSteps
    return others.length >= most || performance.now() - first >= ms
  }
  await page.waitForFunction(isOver, [MOST_STEPS, WINDOW_MS], { timeout: 2 * WINDOW_MS })
  const busyMs = (await threadMs(devtools)) - busy
  const [first, ...others] = await page.evaluate(() => globalThis.benchSteps)
  await context.close()
  return {
    first_step_ms: first - pressed,
    steps: others.length,
    step_ms: (others.at(-1) - first) / others.length,
    thread_ms_per_step: busyMs / others.length,
  }
}

/** The card of the GPU tab, as [label, value] pairs. */
async function card(browser, url) {
  const { context, page } = await freshPage(browser)
  await page.goto(url)
  await isReady(page)
  await page.getByTestId('tab-gpu').click()
  await page.getByTestId('benchmark').click()
  await page.getByTestId('result-card').waitFor({ timeout: CARD_MS })
  const texts = (part) => page.getByTestId('result-card').locator(part).allInnerTexts()
  const [labels, values] = [await texts('dt'), await texts('dd')]
  await context.close()
  return labels.map((label, i) => [label, values[i]])
}

export async function measureRunning(browser) {
  const server = await serveApp()
  try {
    const [url] = server.resolvedUrls.local
    return { ...(await trained(browser, url)), card: await card(browser, url) }
  } finally {
    await server.close()
  }
}
