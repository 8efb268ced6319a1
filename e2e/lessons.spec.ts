// A lesson from its link to its end, on a real run; with LONG_TESTS all of them.

import type { Locator } from '@playwright/test'
import { LESSONS } from '../src/ui/lessons/lessons.ts'
import { violations } from './axe.ts'
import { cutNames, cutOff } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

test('a lesson is opened by its link, answered, tried on a real run, and remembered', async ({
  lab,
  page,
}) => {
  await lab.open('v=1&p=two-skills-grpo#lesson=layer-policies')
  await lab.waitForStatus('idle')
  const lessons = lab.get('lessons')
  await expect(lessons).toContainText('Every layer has a policy')
  // Formulas are MathML, which is read aloud.
  await expect(lessons.locator('math').first()).toBeVisible()
  expect(await lessons.locator('math').count()).toBeGreaterThan(3)
  expect(await violations(page, '[data-testid="lessons"]')).toEqual([])

  // A wrong choice gets a hint, the right one a reason.
  const scale = lab.get('question-scale')
  await scale.getByLabel('Nothing').check()
  await expect(scale.getByLabel('Nothing')).not.toHaveCSS('accent-color', 'auto')
  await expect(scale).toHaveAttribute('data-done', 'false')
  await expect(scale).toContainText('No. Move the slider')
  await scale.getByLabel('It becomes surer of the same tokens').check()
  await expect(scale).toHaveAttribute('data-done', 'true')
  await lab.get('question-normed').getByLabel('It does not change').check()

  await lab.show('tokens')
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.get('start-measured').click()
  // The verdict comes into sight, wherever the lesson was scrolled to.
  await lessons.evaluate((panel) => panel.scrollTo(0, 0))
  await expect(lab.get('preset')).toHaveValue('tiny-grpo')
  // Its charts are those of Learning, and it cannot be begun a second time.
  await expect(lab.get('tab-learn')).toHaveAttribute('aria-selected', 'true')
  await expect(lab.get('start-measured')).toHaveText(/Running: step [1-9]\d* of \d+/)
  await expect(lab.get('start-measured')).toBeDisabled()
  const verdict = lab.get('try-measured').getByRole('status')
  await expect(verdict).toContainText('Passed.')
  await expect(verdict).toBeInViewport({ ratio: 1 })
  // Beside the lesson the bar is narrow: numbers go before how the run is.
  await expect(lab.get('time-left')).toContainText(/^over \d/)
  for (const width of [1440, 1200, 1000]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await cutOff(page), `${width} px`).toEqual([])
    expect(await cutNames(page), `${width} px`).toEqual([])
  }
  await expect(lab.get('try-measured')).toHaveAttribute('data-done', 'true', { timeout: 200_000 })
  await expect(lab.get('try-measured')).toContainText('From the embedding up:')
  await expect(lab.get('lesson-finished')).toContainText('Finished')
  await lab.get('reset').click()

  // The mark is the browser's, and each lesson has an address of its own.
  await lab.get('all-lessons').click()
  await expect(page).toHaveURL(/#lesson=all$/)
  await expect(lab.get('lesson-layer-policies')).toContainText('finished')
  await expect(lab.get('lesson-bupo')).toContainText('9 min')
  await page.reload()
  await expect(lab.get('lesson-layer-policies')).toContainText('finished')
  expect(await violations(page, '[data-testid="lessons"]')).toEqual([])
  await lab.get('close-lessons').click()
  await expect(lessons).toBeHidden()
  expect(new URL(page.url()).hash).toBe('')
  await lab.get('open-lessons').click()
  await expect(lessons).toBeVisible()
  await lab.get('lesson-bupo').click()
  await page.keyboard.press('Escape')
  await expect(lessons).toBeHidden()
})

test('Back goes to the lesson before, then to the list, and then closes the lessons', async ({
  lab,
  page,
}) => {
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await lab.get('open-lessons').click()
  await lab.get(`lesson-${LESSONS[0].id}`).click()
  await lab.get('lesson-next').click()
  const lessons = lab.get('lessons')
  await expect(lessons).toContainText(LESSONS[1].title)
  await expect(page).toHaveURL(new RegExp(`#lesson=${LESSONS[1].id}$`))
  await page.goBack()
  await expect(page).toHaveURL(new RegExp(`#lesson=${LESSONS[0].id}$`))
  await expect(lab.get('lesson-next')).toContainText(LESSONS[1].title)
  await page.goBack()
  await expect(lab.get(`lesson-${LESSONS[0].id}`)).toBeVisible()
  await page.goBack()
  await expect(lessons).toBeHidden()
  await page.goForward()
  await expect(lab.get(`lesson-${LESSONS[0].id}`)).toBeVisible()
  // Beside a lesson the words of the picture leave room for whose run it is.
  await page.setViewportSize({ width: 1440, height: 900 })
  const [source, words] = await Promise.all(
    ['.forest-source', '.forest-says'].map((part) => page.locator(part).boundingBox()),
  )
  expect(source?.x).toBeGreaterThanOrEqual((words?.x ?? 0) + (words?.width ?? 0) - 1)
  // Where the settings have changed since, the tab comes back too, and the settings stay.
  await lab.get('tab-gpu').click()
  const seed = page.locator('#field-seed').first()
  await lab.get('close-lessons').click()
  await lab.get('tab-learn').click()
  await seed.fill('7')
  await seed.blur()
  await expect(page).toHaveURL(/seed=7/)
  await page.goBack()
  await expect(lab.get('tab-gpu')).toHaveAttribute('aria-selected', 'true')
  await expect(page).toHaveURL(/seed=7#tab=gpu$/)
})

test('a lesson leads to the chart that it speaks of', async ({ lab }) => {
  const short = `v=1&p=tiny-grpo&phases.0.steps=1&phases.1.steps=1${QUICK}`
  await lab.open(`${short}#lesson=grpo-by-hand`)
  await lab.waitForStatus('idle')
  await lab.get('show-informative-chart').click()
  await expect(lab.get('toast')).toContainText('once the run has begun')
  await lab.get('train').click()
  await lab.waitForStatus('finished', 60_000)
  await lab.show('tokens')
  await lab.get('show-informative-chart').click()
  await expect(lab.get('tab-learn')).toHaveAttribute('aria-selected', 'true')
  await expect(lab.get('informative-chart-card')).toBeInViewport()
  await lab.get('reset').click()
})

/** Answers a question as somebody who guesses: each choice in turn until one is right. */
async function guess(question: Locator): Promise<void> {
  for (const choice of await question.getByRole('radio').all()) {
    if ((await question.getAttribute('data-done')) === 'true') return
    await choice.check()
  }
  await expect(question).toHaveAttribute('data-done', 'true')
}

/** Waits until a run has shown what was to be seen. Where it asks for a person's verdict, A is
 * always better. */
const tryToTheEnd = (lab: LabPage, part: Locator): Promise<void> =>
  expect(async () => {
    const choice = lab.get('prefer-a')
    if (await choice.isEnabled({ timeout: 100 }).catch(() => false))
      await choice.click({ timeout: 2000 })
    await expect(part).toHaveAttribute('data-done', 'true', { timeout: 500 })
  }).toPass({ timeout: 1_200_000, intervals: [100] })

test('a formula is not read as TeX before it is typeset, but where it cannot be', async ({
  lab,
  page,
  consoleLines,
}) => {
  let fail = () => {}
  const held = new Promise<void>((done) => {
    fail = done
  })
  await page.route(/temml/, async (route) => {
    await held
    await route.abort()
  })
  await lab.open('v=1&p=tiny')
  await page.evaluate(() => {
    location.hash = 'lesson=entropy'
  })
  const tex = lab.get('lessons').locator('.typeset > code').first()
  await expect(tex).toBeAttached()
  await expect(tex).toBeHidden()
  fail()
  await expect(tex).toBeVisible()
  // That it does not come is what is tried.
  expect(consoleLines.splice(0).join()).toContain('temml')
})

test(
  'every lesson is sound in both themes, and no formula fails',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    for (const { id } of LESSONS) {
      // The same page: only the hash changes.
      await page.evaluate((id) => {
        location.hash = `lesson=${id}`
      }, id)
      const lessons = lab.get('lessons')
      await expect(lessons.locator('.lesson-sources')).toBeVisible()
      await expect(lessons.locator('.typeset > code')).toHaveCount(0)
      expect(await violations(page, '[data-testid="lessons"]'), id).toEqual([])
      await page.setViewportSize({ width: 390, height: 844 })
      const cut = await lessons.locator('.lesson-text').evaluate((text) => {
        const { right } = text.getBoundingClientRect()
        return [...text.querySelectorAll('p, li, code, button, legend')]
          .filter((part) => part.getBoundingClientRect().right > right + 1)
          .map(({ textContent }) => textContent)
      })
      expect(cut, id).toEqual([])
      await page.setViewportSize({ width: 1280, height: 720 })
      // All have the colours of the first.
      if (id !== LESSONS[0].id && !process.env.LONG_TESTS) continue
      await lab.get('theme-dark').check({ force: true })
      expect(await violations(page, '[data-testid="lessons"]', true), id).toEqual([])
      await lab.get('theme-light').check({ force: true })
    }
  },
)

// The first test walks one of them; all take an hour on a software adapter.
for (const { id, title } of process.env.LONG_TESTS ? LESSONS : [])
  test(`“${title}” is walked to its end on real runs`, async ({ lab, page }) => {
    test.setTimeout(1_800_000)
    await lab.open(`v=1&p=tiny#lesson=${id}`)
    await lab.waitForStatus('idle')
    const lessons = lab.get('lessons')
    await expect(lessons.locator('.lesson-sources')).toBeVisible()
    for (const question of await lessons.locator('[data-testid^="question-"]').all())
      await guess(question)
    for (const part of await lessons.locator('[data-testid^="try-"]').all()) {
      await part.locator('[data-testid^="start-"]').click()
      await tryToTheEnd(lab, part)
      // What is said is made of the run's own numbers.
      await expect(part.getByRole('status')).toContainText(/\d/)
    }
    await expect(lab.get('lesson-finished')).toContainText('Finished')
    expect(await violations(page, '[data-testid="lessons"]')).toEqual([])
    if (await lab.get('reset').isEnabled()) await lab.get('reset').click()
  })

test('of a formula that cannot be set the source can be read', async ({ lab, page }) => {
  const wrong = String.raw`\le\frac{`
  await page.route('**/*.js', async (route) => {
    const response = await route.fetch()
    const text = await response.text()
    await route.fulfill({
      response,
      body: text.replace(/\\{1,2}le H \\{1,2}le/, JSON.stringify(wrong).slice(1, -1)),
    })
  })
  await lab.open('v=1&p=tiny#lesson=entropy')
  const formulas = lab.get('lessons').locator('.display-formula')
  await expect(formulas.locator('math').first()).toBeVisible()
  await expect(formulas.locator('code:visible').first()).toContainText(wrong)
})
