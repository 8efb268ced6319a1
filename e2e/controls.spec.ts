// Every control does what it says, no more and no less.
import { expect, type LabPage, QUICK, type StepEvent } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Long enough that no phase ends by itself while the buttons are pressed. */
const LINK = `v=1&p=tiny&phases.0.steps=300&phases.1.steps=300${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`

/** Takes one step, from idle or from a pause. */
async function stepTo(lab: LabPage, step: number): Promise<StepEvent> {
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText(String(step), { timeout: 120_000 })
  await lab.waitForStatus('paused')
  const last = (await lab.steps()).at(-1)
  if (!last) throw new Error('a step without an event')
  return last
}

const withoutTimings = ({ metrics }: StepEvent): [string, number][] =>
  Object.entries(metrics).filter(
    ([name]) => !/^timing_|^perf\/(time_per_step|throughput)$/.test(name),
  )

test('Step, Continue, Pause, Next phase and Reset do what they say', async ({ lab, page }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await expect(lab.get('step-count')).toHaveText('–')

  // Step begins a run and stops after its first step; again, and it is the second.
  const first = await stepTo(lab, 1)
  await stepTo(lab, 2)

  // Continue trains by itself until Pause, and after Pause nothing moves.
  await expect(lab.get('train')).toHaveText('Continue')
  // A double click is one press.
  await lab.get('train').dblclick()
  await lab.waitForStep(5)
  await lab.get('pause').click()
  await lab.waitForStatus('paused')
  // The page may still have to draw the last step's event.
  const told = (await lab.steps()).at(-1)?.step
  await expect(lab.get('step-count')).toHaveText(String(told))
  const pausedAt = await lab.number('step-count')
  // A state may still be on its way to the disk.
  const said = async () => (await lab.events()).filter(({ type }) => type !== 'checkpoint').length
  const events = await said()
  await page.waitForTimeout(1500)
  expect(await said()).toBe(events)
  expect(await lab.number('step-count')).toBe(pausedAt)

  // Next phase ends the warm start by hand: the very next step trains the inner layer.
  await expect(lab.get('phase-name')).toContainText('warm start')
  await lab.get('next-phase').click()
  const inner = await stepTo(lab, pausedAt + 1)
  expect(inner).toMatchObject({ phase: 1, phase_step: 1 })
  await expect(lab.get('phase-name')).toContainText('layer 2')
  await expect(lab.get('phases')).toContainText('ended by hand')
  const switches = (await lab.events()).filter(({ type }) => type === 'phase')
  expect(switches.at(-1)).toMatchObject({ step: pausedAt, phase: 1, reason: 'next_phase' })
  await expect(lab.get('samples').getByRole('table')).toContainText(`Step ${pausedAt + 1}`)

  // Reset drops the run; the same seed then takes the same first step, to the bit.
  await lab.get('reset').click()
  await lab.waitForStatus('idle')
  await expect(lab.get('step-count')).toHaveText('–')
  await expect(lab.get('reward-value')).toHaveText('–')
  const again = await stepTo(lab, 1)
  expect(again.run).not.toBe(first.run)
  expect(withoutTimings(again)).toEqual(withoutTimings(first))
})

test('on a phone and at 200 % settings lie over the page, which stays where it is', async ({
  lab,
  page,
}) => {
  const scrolled = () => page.evaluate(() => scrollY)
  const top = () => page.locator('#main').evaluate((main) => main.getBoundingClientRect().top)
  for (const [width, height] of [
    [390, 844],
    [768, 1024],
    [844, 390],
    [720, 450],
  ] as const) {
    const where = `${width} × ${height}`
    await page.setViewportSize({ width, height })
    await lab.open('v=1&p=tiny')
    const [toggle, body] = [lab.get('settings-toggle'), page.locator('#settings-body')]
    const inside = () => body.evaluate(({ scrollTop }) => scrollTop)
    await lab.waitForStatus('idle')
    await page.evaluate(() => scrollTo(0, 30))
    const [from, before] = [await scrolled(), await top()]
    // Escape closes it as its button does, and the focus is where it was.
    for (const close of [
      () => toggle.dispatchEvent('click'),
      () => page.keyboard.press('Escape'),
    ]) {
      // A click of the test's own would scroll the page to it.
      await toggle.dispatchEvent('click')
      await expect(body, where).toBeInViewport()
      await expect(toggle, where).toBeFocused()
      await expect(lab.get('settings-search'), where).toBeInViewport({ ratio: 1 })
      const sheet = await page.locator('.settings').boundingBox()
      expect(sheet, where).toMatchObject({ x: 0, y: 0, width })
      await page.mouse.move(120, 250)
      await page.mouse.wheel(0, 400)
      await expect.poll(inside, where).toBeGreaterThan(300)
      await page.mouse.wheel(0, 90_000)
      await page.mouse.wheel(0, 400)
      expect([await scrolled(), await top()], where).toEqual([from, before])
      // Nothing behind it takes the focus.
      await lab.get('tab-learn').focus()
      await expect(lab.get('tab-learn'), where).not.toBeFocused()
      if (height > 560) await expect(lab.get('train'), where).toBeInViewport({ ratio: 1 })
      await toggle.focus()
      await close()
      await expect(body, where).toBeHidden()
      await expect(toggle, where).toBeFocused()
      await lab.get('tab-learn').focus()
      await expect(lab.get('tab-learn'), where).toBeFocused()
      expect([await scrolled(), await top()], where).toEqual([from, before])
    }
  }
})

test('Back closes settings that lie over the page, and a phone that is turned leaves them the focus', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  const [toggle, body] = [lab.get('settings-toggle'), page.locator('#settings-body')]
  const address = page.url()
  const entries = () => page.evaluate(() => history.length)
  await toggle.click()
  await expect(body).toBeInViewport()
  const seed = page.locator('#settings-body input[type=number]').first()
  await seed.focus()
  for (const [width, height] of [
    [844, 390],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    await expect(seed, `${width}`).toBeFocused()
  }
  // The controls go out of sight with the focus in them.
  await lab.get('train').focus()
  await page.setViewportSize({ width: 844, height: 390 })
  await expect(toggle).toBeFocused()
  await page.setViewportSize({ width: 390, height: 844 })
  const most = await entries()
  await page.evaluate(() => history.back())
  await expect(body).toBeHidden()
  await expect(toggle).toBeFocused()
  // Each other way of closing takes its entry back, too.
  for (const close of [() => toggle.click(), () => page.keyboard.press('Escape')]) {
    await toggle.click()
    await expect(body).toBeInViewport()
    await close()
    await expect(body).toBeHidden()
    await expect.poll(() => page.evaluate(() => history.state?.over)).toBeUndefined()
    expect(await entries()).toBe(most)
  }
  // A lesson that was opened before stays when they are closed, and closes with the next Back.
  await lab.get('open-lessons').click()
  await expect(lab.get('lessons')).toBeVisible()
  await toggle.click()
  await expect(body).toBeInViewport()
  await page.evaluate(() => history.back())
  await expect(body).toBeHidden()
  await expect(lab.get('lessons')).toBeVisible()
  await page.evaluate(() => history.back())
  await expect(lab.get('lessons')).toHaveCount(0)
  expect(page.url()).toBe(address)
})

test('a phase of few steps is pressed in its middle, and its end beside it', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open('v=1&p=tiny&phases.0.steps=200&phases.1.steps=2&phases.2.steps=3')
  await lab.waitForStatus('idle')
  const segments = page.locator('.phase-segment')
  for (const place of [1, 2]) {
    await segments.nth(place).click({ timeout: 5000 })
    await expect(segments.nth(place)).toHaveAttribute('aria-pressed', 'true')
  }
  await expect(lab.get('phase-boundary-2')).toBeVisible()
})
