// The first minute of somebody who has never been here, as states in their order: what can be seen,
// and done, in each.
import type { Page } from '@playwright/test'
import { expect, type LabPage, LONG_ONLY, test } from './lab_page.ts'

test('Train is three presses away for somebody with a keyboard', async ({ lab, page }) => {
  await lab.open()
  await expect(lab.get('train-here')).toBeEnabled({ timeout: 60_000 })
  const address = page.url()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the run' })).toBeFocused()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await expect(lab.get('train-here')).toBeFocused()
  expect(page.url()).toBe(address)
})

declare global {
  interface Window {
    /** What the screen offered at each of the seconds. */
    seenAt: Screen[]
  }
}

interface Screen {
  readonly second: number
  readonly status: string
  readonly step: number
  /** The words of the picture: a sentence, or what happens. */
  readonly says: string
  /** Controls that can be pressed, of those that a newcomer needs. */
  readonly offers: readonly string[]
  readonly alerts: number
}

const SECONDS = [5, 15, 30, 60]

/** Notes what is on screen at SECONDS after the page was loaded. */
const noteScreens = (page: Page) =>
  page.addInitScript((seconds) => {
    window.seenAt = []
    const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`)
    const note = (second: number) => {
      const names = ['train-here', 'train', 'pause', 'next-lesson']
      const forest = document.querySelector<HTMLElement>('.forest')
      window.seenAt.push({
        second,
        status: find('status')?.dataset.status ?? '',
        step: Number.parseInt(find('step-count')?.innerText ?? '', 10) || 0,
        says: forest?.innerText.trim() ?? '',
        offers: names.filter((name) => find(name)?.matches(':enabled, a[href]')),
        alerts: document.querySelectorAll('[role="alert"]').length,
      })
    }
    for (const second of seconds) setTimeout(note, 1000 * second, second)
  }, SECONDS)

/** Points of accuracy on new problems that the run says it has won. */
async function rise(lab: LabPage): Promise<number> {
  const said = await lab.get('headline').innerText()
  const [, after, before] =
    /^It solves (\d+)\s% of new problems; it began at (\d+)\s%\.$/.exec(said) ?? []
  return Number(after) - Number(before)
}

/** The chart of rewards has a line. */
const rewardIsDrawn = (lab: LabPage) =>
  expect(lab.get('reward-value')).toContainText('%', { timeout: 200_000 })

test('from the first look to the end of the first run, every state says what is going on and what can be done', async ({
  lab,
  page,
}, testInfo) => {
  await noteScreens(page)
  await lab.open()

  // At first: a picture that moves, one sentence, one button, and whose run it is.
  const forest = lab.get('forest')
  await expect(forest).toHaveAttribute('data-live', 'false')
  await expect(page.locator('.forest-source')).toContainText('A recorded first run')
  await expect(page.locator('.forest-says')).toContainText(
    'Each of its layers has a policy of its own',
  )
  await expect(lab.get('train-here')).toBeVisible()
  const seen = Number(await forest.getAttribute('data-step'))
  await expect.poll(async () => Number(await forest.getAttribute('data-step'))).not.toBe(seen)

  // Ready: what the button trains, and what is known of its time.
  await expect(lab.get('train-here')).toBeEnabled({ timeout: 60_000 })
  await expect(lab.get('estimate')).toContainText('learn to sort digits')
  await expect(lab.get('estimate')).toContainText(/about \d+ \w+, estimated from a probe/)
  await expect(lab.get('preset')).toHaveValue('first-steps')
  await lab.get('train-here').click()

  // Preparing: the button has given way, and the page says what it waits for. The preset begins
  // with reinforcement.
  await expect(lab.get('preset')).toHaveValue('first-steps')
  await expect(lab.get('train-here')).toBeHidden()
  await expect(lab.get('status')).toHaveText(/preparing|allocating|measuring|training/)

  // The first steps: the picture is the person's own, the time that is left is measured, something
  // can be paused.
  await expect(forest).toHaveAttribute('data-live', 'true', { timeout: 200_000 })
  await expect(lab.get('forest-caption')).toContainText('Reinforcement of layer 2 alone', {
    timeout: 200_000,
  })
  await expect(lab.get('time-left')).toContainText(/\d/, { timeout: 200_000 })
  await expect(lab.get('pause')).toBeEnabled()
  await rewardIsDrawn(lab)

  // To the end it takes minutes; train.spec.ts has the end of a shorter run.
  if (!process.env.LONG_TESTS) return

  // The next phase: the caption tells of it in numbers of this run.
  await expect(lab.get('forest-caption')).toContainText(/of the whole model, \d+ steps/, {
    timeout: 400_000,
  })

  // The end: one sentence with a win in it, three answers before and after, what each phase did,
  // and one thing to do next that takes less than two minutes here.
  await lab.waitForStatus('finished', 400_000)
  expect(await rise(lab)).toBeGreaterThanOrEqual(10)
  await expect(lab.get('end-answers').getByRole('row')).toHaveCount(4)
  await expect(lab.get('end-card').getByRole('listitem')).toHaveText([
    /^Reinforcement of layer 2 alone, 4 steps/,
    /^Reinforcement of the whole model, 41 steps/,
  ])
  await expect(lab.get('next-lesson')).toBeVisible()
  // What to do next fills the room below the answers, beside what happened.
  const [answers, next, happened] = await Promise.all(
    ['answers', 'next', 'says'].map((part) => page.locator(`.end-${part}`).boundingBox()),
  )
  expect(next?.y).toBeGreaterThan((answers?.y ?? 0) + (answers?.height ?? 0))
  expect((next?.x ?? 0) + (next?.width ?? 0)).toBeLessThanOrEqual(happened?.x ?? 0)
  // Which one it is depends on the machine: a busy one has no time for the same run again.
  await expect(lab.get('next-step')).toContainText(
    /(without the inner phase|from random weights) \(about (\d+ s|1 min)\)/,
  )
  await lab.get('end-card').getByText('What it came to with several seeds').click()
  await expect(lab.get('end-card')).toContainText('5 of 5 seeds')
  // Whatever it has come to after 5, 15, 30 and 60 s: something is said, something can be done,
  // nothing is wrong.
  await expect
    .poll(() => page.evaluate(() => window.seenAt.length), { timeout: 120_000 })
    .toBe(SECONDS.length)
  const screens = await page.evaluate(() => window.seenAt)
  await testInfo.attach('screens', { body: JSON.stringify(screens, undefined, 2) })
  for (const { second, status, says, offers, alerts } of screens) {
    expect(status, `${second} s`).toMatch(/^(loading|idle|preparing|running|finished)$/)
    expect(says, `${second} s`).toMatch(/[a-z]{3,} .*[a-z]{3,}/s)
    // A slow machine may still be opening its adapter.
    if (status !== 'loading') expect(offers, `${second} s`).not.toEqual([])
    expect(alerts, `${second} s`).toBe(0)
  }
  const steps = screens.map(({ step }) => step)
  expect(steps).toEqual(steps.toSorted((a, b) => a - b))
  expect(new Set(screens.map(({ says }) => says)).size).toBeGreaterThan(1)

  // Afterwards: Inside is not empty, and the next run knows how long it takes.
  await lab.show('inside')
  await lab.get('flow').scrollIntoViewIfNeeded()
  await expect(lab.get('flow')).toHaveAttribute('data-step', '45')
  await lab.get('reset').click()
  await expect(lab.get('estimate')).toContainText(/take about .* as measured here/)
})

test('the first run ends with a win on three seeds', { tag: '@long' }, async ({ lab }) => {
  // Three runs one after the other, on cores that others may use too.
  test.setTimeout(3 * 480_000)
  const won: number[] = []
  for (const seed of [1, 2, 3]) {
    await lab.open(`v=1&p=first-steps&seed=${seed}`)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 400_000)
    won.push(await rise(lab))
  }
  // Of 128 problems; one standard error of a difference is about 5 points.
  expect(
    won.every((points) => points >= 10),
    `${won}`,
  ).toBe(true)
  expect(won.filter((points) => points >= 14).length, `${won}`).toBeGreaterThanOrEqual(2)
})

test('the control that a run proposes is told beside that run', LONG_ONLY, async ({ lab }) => {
  await lab.open(
    'v=1&p=first-steps&phases.0.steps=2&phases.1.steps=2&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=2',
  )
  await lab.get('train').click()
  await lab.waitForStatus('finished', 180_000)
  await expect(lab.get('control-says')).toHaveCount(0)
  await expect(lab.get('next-step')).toContainText('without the inner phase')
  await lab.get('next-step').click()
  await lab.waitForStatus('finished', 180_000)
  await expect(lab.get('control-says')).toContainText(
    /With the inner phase it solved .+ of new problems, without it .+: 8 problems tell no difference/,
  )
})
