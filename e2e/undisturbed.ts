// Keeps the run that tests interrupt, and its numbers where nothing happens to it.
import { readFileSync } from 'node:fs'
import type { LabEvent } from '../src/host/protocol/protocol.ts'
import { borrowingPage, type Host } from './host.ts'
import { expect, LabPage, measured, QUICK } from './lab_page.ts'
import { keepEvery } from './stored.ts'

/** The tiny preset, short, with enough steps to be interrupted. */
export const LINK = `v=1&p=tiny&phases.0.steps=4&phases.1.steps=4&phases.2.steps=12&validation.prompts=16&validation.test_freq=6&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`
export const STEPS = 20

export async function train(lab: LabPage): Promise<void> {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
}

/** What was measured, without what the clock says: one line a step, as the page hands it out. */
export async function metricsOf(lab: LabPage): Promise<unknown[]> {
  await lab.show('learn')
  const coming = lab.page.waitForEvent('download')
  await lab.get('download-jsonl').click()
  return measured(readFileSync(await (await coming).path(), 'utf8'))
}

/** The first checkpoint makes the buffer that it is read back through; after it, steps and
 * checkpoints make none. */
export function expectNoNewBuffers(events: readonly LabEvent[]): void {
  const first = events.findIndex(({ type }) => type === 'checkpoint')
  expect(first).toBeGreaterThan(0)
  const made = events
    .slice(first)
    .flatMap((event) => (event.type === 'memory' ? [event.counts.buffers] : []))
  expect(new Set(made).size, `${made}`).toBe(1)
}

let undisturbed: unknown[] | undefined

/** The same for all tests of a browser, so it is trained once. */
export async function reference(host: Host): Promise<unknown[]> {
  if (undisturbed) return undisturbed
  const page = await borrowingPage(host)
  await keepEvery(page, 2)
  const lab = new LabPage(page)
  await train(lab)
  await lab.waitForStatus('finished', 300_000)
  expectNoNewBuffers(await lab.events())
  undisturbed = await metricsOf(lab)
  expect(undisturbed).toHaveLength(STEPS + 1)
  await page.close()
  return undisturbed
}
