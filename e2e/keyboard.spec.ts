// Where keys alone lead: what opens takes the focus, and gives it back.
import { expect } from './lab_page.ts'
import { test } from './warm_page.ts'

test('lessons that are opened by a key have the focus, and Escape gives it back', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 720, height: 450 })
  await lab.open()
  const button = lab.get('open-lessons')
  const heading = lab.get('lessons').getByRole('heading', { level: 2 }).first()
  await button.press('Enter')
  await expect(heading).toHaveText('Lessons')
  await expect(heading).toBeFocused()
  await lab.get('lesson-entropy').press('Enter')
  await expect(heading).not.toHaveText('Lessons')
  await expect(heading).toBeFocused()
  await lab.get('all-lessons').press('Enter')
  await expect(heading).toHaveText('Lessons')
  await expect(heading).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(lab.get('lessons')).toHaveCount(0)
  await expect(button).toBeFocused()
  await button.press('Enter')
  await lab.get('close-lessons').press('Enter')
  await expect(button).toBeFocused()
})

test('sharing has the focus each time it is opened', async ({ lab, page }) => {
  await lab.open()
  await lab.waitForStatus('idle')
  const button = lab.get('share-options')
  for (let times = 0; times < 3; times++) {
    await button.press('Enter')
    await expect(lab.get('share-link')).toBeVisible()
    await expect(lab.get('share').locator('form :focus')).toHaveCount(1)
    await page.keyboard.press('Escape')
    await expect(button).toBeFocused()
  }
})

test('on a phone nothing that has the focus lies below the controls', async ({ lab, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open()
  await lab.waitForStatus('idle')
  await lab.get('at-rest').waitFor()
  await lab.get('tab-learn').focus()
  const hidden = () =>
    page.evaluate(() => {
      const focused = document.activeElement
      const bar = document.querySelector('.controls')
      if (!focused || !bar || bar.contains(focused)) return ''
      const isBelow = focused.getBoundingClientRect().bottom > bar.getBoundingClientRect().top
      return isBelow ? focused.outerHTML.slice(0, 80) : ''
    })
  for (let times = 0; times < 25; times++) {
    await page.keyboard.press('Tab')
    await expect.poll(hidden, { message: `after ${times + 1} tabs` }).toBe('')
  }
})

test('the ring around the name of a line lies within the name', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  const name = page.locator('.line-labels button').first()
  await page.keyboard.press('Tab')
  await name.focus()
  expect(await name.evaluate((it) => it.matches(':focus-visible'))).toBe(true)
  const ring = await name.evaluate((it) => {
    const { outlineOffset, outlineWidth } = getComputedStyle(it)
    return Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth)
  })
  expect(ring).toBeLessThanOrEqual(0)
})

test('a chart that filled the screen gives the focus back to its menu', async ({ lab, page }) => {
  await lab.open()
  await lab.get('at-rest').waitFor()
  const dots = lab.get('reward-chart-menu').locator('summary')
  const leave = [
    () => page.keyboard.press('Escape'),
    () => lab.get('full-chart').getByRole('button', { name: 'Leave full screen' }).press('Enter'),
  ]
  for (const goBack of leave) {
    await dots.press('Enter')
    await lab.get('reward-chart-full-screen').press('Enter')
    await expect(lab.get('full-chart')).toBeVisible()
    await goBack()
    await expect(lab.get('full-chart')).toHaveCount(0)
    await expect(dots).toBeFocused()
  }
})
