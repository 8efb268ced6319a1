// A lesson from its link to its end, on a real run; with LONG_TESTS all of them.

import { LESSONS } from '../src/ui/lessons/lessons.ts'
import { violations } from './axe.ts'
import { expect } from './lab_page.ts'
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
  await expect(scale).toHaveAttribute('data-done', 'false')
  await expect(scale).toContainText('Move the slider')
  await scale.getByLabel('It becomes surer of the same tokens').check()
  await expect(scale).toHaveAttribute('data-done', 'true')
  await lab.get('question-normed').getByLabel('It does not change').check()

  await lab.get('start-measured').click()
  await expect(lab.get('preset')).toHaveValue('tiny-grpo')
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
})

test('every lesson is sound in both themes, and no formula fails', async ({ lab, page }) => {
  test.skip(!process.env.LONG_TESTS, 'twelve pages')
  for (const { id } of LESSONS) {
    await lab.open(`v=1&p=tiny#lesson=${id}`)
    const lessons = lab.get('lessons')
    await expect(lessons.locator('.lesson-sources')).toBeVisible()
    await expect(lessons.locator('.typeset > code')).toHaveCount(0)
    expect(await violations(page, '[data-testid="lessons"]'), id).toEqual([])
    await lab.get('theme-dark').check({ force: true })
    expect(await violations(page, '[data-testid="lessons"]', true), id).toEqual([])
    await lab.get('theme-light').check({ force: true })
  }
})
