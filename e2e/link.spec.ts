// A copied link reproduces the run: the same numbers, bit by bit, in a fresh browser profile with a
// worker and a GPU of its own.
import { expect, LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** 9 small steps through all three phases. */
const LINK =
  `v=1&p=tiny&phases.0.steps=3&phases.1.steps=2&phases.2.steps=4${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=4&validation.prompts=16'
const SEED = 20260

async function trainToTheEnd(lab: LabPage): Promise<unknown[]> {
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  return (await lab.steps()).map(({ step, phase, phase_step, metrics }) => {
    const kept = Object.entries(metrics).filter(
      ([name]) => !/^timing_|^perf\/(time_per_step|throughput)$/.test(name),
    )
    return { step, phase, phase_step, metrics: Object.fromEntries(kept) }
  })
}

test(
  'a copied link opened elsewhere gives the same steps',
  LONG_ONLY,
  async ({ lab, page, browser }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.open(LINK)
    // What was changed by hand belongs to the link as well.
    const seed = page.locator('#field-seed')
    await seed.fill(String(SEED))
    await seed.blur()
    await lab.get('copy-link').click()
    await expect(lab.get('toast')).toContainText('Link copied')
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toContain(`seed=${SEED}`)
    const sent = await trainToTheEnd(lab)
    expect(sent.length).toBe(10)

    const context = await browser.newContext()
    const received = new LabPage(await context.newPage())
    await received.open(new URL(link).search.slice(1), new URL('./', link).href)
    await received.waitForStatus('idle')
    const got = await trainToTheEnd(received)
    await context.close()
    expect(got).toEqual(sent)
    // The numbers move, so that equal ones mean something.
    expect(new Set(sent.map((step) => JSON.stringify(step))).size).toBe(10)
  },
)
