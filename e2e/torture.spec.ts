// Browsers that are killed, and GPUs that crash, at seeded moments: every run continues from its
// checkpoint to the same numbers. TORTURE_RUNS says how often (else never: survival.spec.ts reloads
// a page and crashes a GPU), TORTURE_SEED which moments, TORTURE_GPU=all that the GPU crashes in
// every stage of a step.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Worker } from '@playwright/test'
import type { LabEvent } from '../src/host/protocol/protocol.ts'
import { expect, LabPage, measured, test } from './lab_page.ts'
import { type OwnBrowser, openOwn } from './own_browser.ts'
import { keepEvery } from './stored.ts'
import { LINK, reference, STEPS } from './undisturbed.ts'

const RUNS = Number(process.env.TORTURE_RUNS ?? 0)
const SEED = Number(process.env.TORTURE_SEED ?? 1)
/** As fine as steps are: what is lost is counted in them. */
const EVERY_STEPS = 2

/** What the browser is killed in the middle of. */
const MOMENTS = [
  'a step',
  'a checkpoint’s write',
  'before a checkpoint has its name',
  'after a checkpoint has its name',
  'a phase switch',
] as const
type Moment = (typeof MOMENTS)[number]

declare global {
  interface Window {
    /** Text of the file that was saved last. */
    saved: Promise<string> | undefined
  }
}

/** Mulberry32: the same moments for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296
  }
}

/** Prepares a page: kept often, and what it saves can be read. */
async function openLab(page: Page, address = './'): Promise<LabPage> {
  await keepEvery(page, EVERY_STEPS)
  await page.addInitScript(() => {
    const make = URL.createObjectURL.bind(URL)
    URL.createObjectURL = (blob: Blob) => {
      window.saved = blob.text()
      return make(blob)
    }
  })
  const lab = new LabPage(page)
  await lab.open(LINK, address)
  await expect(lab.get('status')).not.toHaveAttribute('data-status', 'loading', { timeout: 60_000 })
  return lab
}

/** What was measured, without what the clock says: one line a step, as the page hands it out. */
async function metricsOf(lab: LabPage): Promise<unknown[]> {
  await lab.show('learn')
  await lab.get('download-jsonl').click()
  await expect.poll(() => lab.page.evaluate(() => window.saved !== undefined)).toBe(true)
  const text = (await lab.page.evaluate(() => window.saved)) ?? ''
  return measured(text)
}

/** Has the worker stop for good in the middle of the `count`-th checkpoint from now on, and say so:
 * half of it written, all of it written under no name yet, or just named. */
async function stallIn(worker: Worker, moment: Moment, count: number): Promise<void> {
  await worker.evaluate(
    ({ where, count }) => {
      let left = count
      const stall = () => {
        postMessage({ type: 'stalled' })
        const until = performance.now() + 20_000
        while (performance.now() < until);
      }
      const scope = globalThis as unknown as {
        FileSystemSyncAccessHandle: { prototype: { write: (...args: unknown[]) => number } }
        FileSystemFileHandle: { prototype: { move: (...args: unknown[]) => Promise<void> } }
      }
      const access = scope.FileSystemSyncAccessHandle.prototype
      const handle = scope.FileSystemFileHandle.prototype
      const { write } = access
      const { move } = handle
      access.write = function (bytes, ...rest) {
        if (where === 'write' && --left === 0) {
          write.call(
            this,
            (bytes as Uint8Array).subarray(0, (bytes as Uint8Array).length / 2),
            ...rest,
          )
          stall()
        }
        return write.call(this, bytes, ...rest)
      }
      handle.move = async function (...args) {
        if (where === 'before' && --left === 0) stall()
        await move.apply(this, args)
        if (where === 'after' && --left === 0) stall()
      }
    },
    {
      where: moment === MOMENTS[1] ? 'write' : moment === MOMENTS[2] ? 'before' : 'after',
      count,
    },
  )
}

/** Waits until the page's events hold something. */
async function waitFor(page: Page, what: (events: LabEvent[]) => boolean): Promise<void> {
  for (;;) {
    if (what(await page.evaluate(() => window.labEvents))) return
    await page.waitForTimeout(15)
  }
}

const stepsOf = (events: readonly LabEvent[]) =>
  events.flatMap((event) => (event.type === 'step' ? [event.step] : []))
const keptOf = (events: readonly LabEvent[]) =>
  events.flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []))

/** Lets the run get to the moment. Something has been kept before. */
async function reach(own: OwnBrowser, moment: Moment, random: () => number): Promise<void> {
  const { page } = own
  await waitFor(page, (events) => keptOf(events).length > 0)
  if (moment === 'a step') {
    const step = 4 + Math.floor(random() * (STEPS - 8))
    await waitFor(page, (events) => stepsOf(events).some((done) => done >= step))
    await page.waitForTimeout(random() * 200)
    return
  }
  if (moment === 'a phase switch') {
    const phase = 1 + Math.floor(random() * 2)
    await waitFor(page, (events) =>
      events.some((event) => event.type === 'phase' && event.phase === phase),
    )
    return
  }
  const [worker] = page.workers()
  await stallIn(worker, moment, 1 + Math.floor(random() * 3))
  await waitFor(page, (events) => events.some(({ type }) => (type as string) === 'stalled'))
}

let folder = ''

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-torture-'))
})
test.afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

for (let i = 0; i < RUNS; i++) {
  // Every second kind in turn, from another one for each seed: few runs are not all of one sort.
  const moment = MOMENTS[(2 * i + SEED) % MOMENTS.length]
  test(`killed in the middle of ${moment} (${i + 1} of ${RUNS}, seed ${SEED})`, async ({
    baseURL,
    host,
  }, testInfo) => {
    const options = testInfo.project.use.launchOptions
    const numbers = await reference(host)
    const random = seeded(SEED * 1000 + i)
    const profile = join(folder, `${i}`)
    let own = await openOwn(profile, options)
    const lab = await openLab(own.page, baseURL)
    await lab.get('train').click()
    await reach(own, moment, random)
    const before = await lab.events()
    await own.kill()
    const last = Math.max(...stepsOf(before))

    own = await openOwn(profile, options)
    try {
      const again = await openLab(own.page, baseURL)
      await again.get('go-on').click()
      await again.waitForStatus('finished', 300_000)
      const restored = (await again.events()).find((event) => event.type === 'restored')
      if (restored?.type !== 'restored') throw new Error('the run was not restored')
      // The one that was being made when the browser was killed, and a step that the page was
      // ahead.
      expect(restored.step).toBeGreaterThanOrEqual(last - EVERY_STEPS - 2)
      expect(await metricsOf(again)).toEqual(numbers)
      console.log(`${moment}: killed after step ${last}, resumed at step ${restored.step}`)
    } finally {
      await own.kill()
    }
  })
}

/** What a step reads back, by its bytes: 32 responses of 4 tokens; numbers of the step; all weights
 * and moments. */
const READS = {
  'a rollout': (bytes: number) => bytes === 32 * 4 * 4,
  'an update': (bytes: number) => bytes > 32 * 4 * 4 && bytes < 10_000,
  'a checkpoint': (bytes: number) => bytes > 100_000,
} as const

/** Each costs a run: only where they are asked for. One crash is among the tests of checkpoints. */
const STAGES: Partial<typeof READS> = process.env.TORTURE_GPU === 'all' ? READS : {}

for (const [stage, isRead] of Object.entries(STAGES))
  test(`the GPU process crashes in the middle of ${stage}`, async ({ baseURL, host }, testInfo) => {
    const options = testInfo.project.use.launchOptions
    const numbers = await reference(host)
    const own = await openOwn(join(folder, stage), options)
    try {
      const lab = await openLab(own.page, baseURL)
      await lab.get('train').click()
      await waitFor(own.page, (events) => stepsOf(events).some((step) => step >= 9))
      const devtools = await own.browser.newBrowserCDPSession()
      // The worker says what it waits for as soon as that is submitted.
      const [worker] = own.page.workers()
      await worker.evaluate(() => {
        const { mapAsync } = GPUBuffer.prototype
        GPUBuffer.prototype.mapAsync = function (mode, offset, size) {
          postMessage({ type: 'reading', bytes: size })
          return mapAsync.call(this, mode, offset, size)
        }
      })
      const reads = (events: LabEvent[]) =>
        (events as unknown as { type: string; bytes: number }[]).filter(
          ({ type, bytes }) => type === 'reading' && isRead(bytes),
        ).length
      await waitFor(own.page, (events) => reads(events) > 0)
      await devtools.send('Browser.crashGpuProcess').catch(() => {}) // the answer is lost with the process
      await lab.waitForStatus('finished', 300_000)
      expect(await metricsOf(lab)).toEqual(numbers)
      const restored = (await lab.events()).filter((event) => event.type === 'restored')
      expect(restored.map(({ why }) => why)).toEqual(['lost'])
    } finally {
      await own.kill()
    }
  })
