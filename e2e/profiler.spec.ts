// The profiler measures a step of a run that is on, and the benchmark's card can be copied and
// opened elsewhere.
import { expect, LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

// Two updates from one batch, whose old log-probs the first of them reads on its way.
const LINK =
  `v=1&p=tiny&phases.0.steps=3&phases.1.steps=40&phases.2.steps=20&probe.freq=1${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=4' +
  // The page says what became of both.
  '&rollout.dtype=float16&validation.prompts=4000'

test(
  'a profiled step shows every stage, and the run continues with the same numbers',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.withoutMoments()
    await lab.open(LINK)
    await lab.show('gpu')
    await lab.waitForStatus('idle')
    await lab.page.locator('summary', { hasText: /^Validation.*note/ }).click()
    await expect(lab.get('field-validation-prompts-remark')).toContainText('holds out 200 problems')
    // Fewer are enough from here on.
    await lab.get('field-validation-prompts').fill('8')
    await lab.get('train').click()
    await lab.waitForStep(4)
    await expect(lab.get('rollout-dtype')).toContainText(
      /Rollouts ran on a float16 cache; attention from it differs by 0\.\d+|ran on float32/,
    )
    await lab.get('profile-step').click()
    const stages = lab.get('profile-stages')
    for (const name of ['gen', 'update_actor', 'probe'])
      await expect(stages.locator(`[data-name="${name}"]`)).toBeVisible()
    const event = (await lab.events()).find(({ type }) => type === 'profile')
    if (event?.type !== 'profile') throw new Error('the worker sent no profile')
    const { profile, peak } = event
    expect(profile.time_ms).toBeGreaterThan(0)
    expect(peak?.gflops).toBeGreaterThan(0)
    await expect(lab.get('profile-summary')).toContainText(`Step ${event.step} took`)
    // The stages of that step are in its numbers, as of every other step.
    const { metrics } = (await lab.steps()).find(({ step }) => step === event.step) ?? {}
    for (const name of ['gen', 'update_actor', 'probe'])
      expect(metrics?.[`timing_s/${name}`]).toBeGreaterThan(0)
    // The names in the legend are whole.
    const isCut = (names: Element[]) => names.some((one) => one.scrollWidth > one.clientWidth)
    expect(await lab.page.locator('.step-times .cut-name').evaluateAll(isCut)).toBe(false)
    const kernels = lab.get('profile-kernels')
    await expect(kernels.getByRole('row')).toHaveCount(1 + Math.min(10, profile.kernels.length))
    // The run is not disturbed.
    await lab.waitForStep(event.step + 3)
    await expect(lab.get('benchmark')).toBeDisabled()
    const profiled = await lab.steps()
    const last = profiled[profiled.length - 1].step

    // The same run without a profile has the same numbers.
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    await lab.page.locator('#reset').click()
    await lab.get('train').click()
    await lab.waitForStep(last)
    const plain = (await lab.steps()).slice(0, profiled.length)
    const numbers = (steps: typeof plain) =>
      steps.map(({ metrics }) =>
        Object.fromEntries(
          Object.entries(metrics).filter(
            ([name]) =>
              !/^timing_|^perf\/(time_per_step|throughput)$/.test(name) && name !== 'perf/submits',
          ),
        ),
      )
    expect(numbers(profiled)).toEqual(numbers(plain))
  },
)

test(
  'the benchmark’s card is copied as text and as a link that shows it elsewhere',
  LONG_ONLY,
  async ({ lab, page, browser }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.open()
    await lab.show('gpu')
    await lab.waitForStatus('idle')
    await lab.get('benchmark').click()
    await expect(lab.get('benchmark-status')).toBeVisible()
    await expect(lab.get('result-card')).toBeVisible({ timeout: 200_000 })
    await lab.get('copy-card').click()
    await expect(lab.get('toast')).toContainText('copied as text')
    const text = await page.evaluate(() => navigator.clipboard.readText())
    expect(text).toMatch(/^Understory on .*, Chrome \d+\nPeak, multiply-adds: [\d.,]+ GFLOP\/s\n/)
    await lab.get('copy-card-link').click()
    await expect(lab.get('toast')).toContainText('Link copied')
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(text.endsWith(link)).toBe(true)

    const context = await browser.newContext()
    const received = new LabPage(await context.newPage())
    await received.page.goto(link)
    await received.waitForStatus('idle')
    const card = received.get('shared-card')
    await expect(card).toContainText('by someone else')
    const values = await lab.get('result-card').locator('dd').allInnerTexts()
    expect(await card.locator('dd').allInnerTexts()).toEqual(values)
    await expect(received.get('notices')).toHaveCount(0)
    await context.close()
  },
)
