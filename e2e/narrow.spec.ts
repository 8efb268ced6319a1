// What the narrowest windows say whole: phones, and a large letter on a large screen.
import { boxOf as box, cutOff, sticksOut } from './bars.ts'
import { expect, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases.0.steps=6&phases.1.steps=2&phases.2.steps=4${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`

const WINDOWS = [
  [320, 640],
  [320, 256],
  [360, 740],
  [390, 844],
  [440, 900],
] as const

test('in the narrowest windows nothing of a run is cut, however long its numbers are', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  for (const [width, height] of WINDOWS) {
    await page.setViewportSize({ width, height })
    expect(await sticksOut(page), `at rest, ${width} × ${height}`).toEqual([])
    expect(await cutOff(page), `at rest, ${width} × ${height}`).toEqual([])
  }
  await lab.get('train').click()
  await lab.waitForStep(1)
  await expect(lab.get('follow')).toBeVisible()
  const [follow, tools] = [
    await box(lab, '[data-testid=follow]'),
    await box(lab, '.work .timeline-tools > button'),
  ]
  expect(follow.x + follow.width).toBeLessThanOrEqual(tools.x)
  await lab.waitForStatus('finished')
  // As long as those of a large model become.
  await lab.get('time-left').evaluate((time) => {
    time.textContent = 'over 12 min 28 s'
    if (time.parentElement) time.parentElement.hidden = false
  })
  for (const [width, height] of WINDOWS) {
    const where = `${width} × ${height}`
    await page.setViewportSize({ width, height })
    expect(await sticksOut(page), where).toEqual([])
    expect(await cutOff(page), where).toEqual([])
    const numbers = await box(lab, '.numbers dl')
    for (const id of ['reward-value', 'accuracy-value']) {
      const number = await box(lab, `[data-testid=${id}]`)
      expect(number.bottom, `${id}, ${where}`).toBeLessThanOrEqual(numbers.bottom)
    }
    const labels = await page.locator('.forest-labels').evaluate((list) => {
      const end = list.getBoundingClientRect().right
      return [...list.children].filter((label) => label.getBoundingClientRect().right > end).length
    })
    expect(labels, where).toBe(0)
  }
  // A step that there is no way to has no more of a border than one that there is.
  const border = (id: string) =>
    lab.get(id).evaluate((button) => getComputedStyle(button).borderTopColor)
  await expect(lab.get('kept-next')).toBeDisabled()
  expect(await border('kept-next')).toBe(await border('kept-previous'))
  // As wide as the studies below it.
  await lab.show('study')
  const search = lab.get('study-search')
  await expect(search).toBeVisible()
  const [field, list] = [await search.boundingBox(), await box(lab, '.study-search')]
  expect(field?.width).toBeCloseTo(list.width, 0)
})

test('of why Train is off nothing is seen under a sheet of lessons', async ({ lab, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('settings-toggle').click()
  await page.locator('#field-rollout-n').fill('1')
  const wrong = lab.get('wrong-fields')
  await expect(wrong).toBeVisible()
  await lab.get('open-lessons').click()
  await expect(lab.get('lessons')).toBeVisible()
  const [bar, sheet] = [await box(lab, '.controls-wrong'), await box(lab, '.lessons')]
  expect(bar.bottom).toBeLessThanOrEqual(sheet.bottom)
})
