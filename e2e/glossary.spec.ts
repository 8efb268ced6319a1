// Terms of the page are explained where they are met: with keys, by touch, in both themes.
import { violations } from './axe.ts'
import { expect } from './lab_page.ts'
import { test } from './warm_page.ts'

test('a term opens beside its word, leads to its lesson and to all terms, and gives the focus back', async ({
  lab,
  page,
}) => {
  await lab.open()
  await lab.waitForStatus('idle')
  const term = lab.get('entropy-chart-card').getByRole('button', { name: 'Entropy', exact: true })
  const definition = lab.get('definition')
  // With keys.
  await term.focus()
  await page.keyboard.press('Enter')
  await expect(definition).toContainText('How undecided a policy is about the next token')
  await expect(definition.locator('math')).toBeVisible()
  for (const theme of ['light', 'dark'] as const) {
    await page.evaluate((name) => {
      document.querySelector<HTMLElement>(`[data-testid=theme-${name}]`)?.click()
    }, theme)
    expect(await violations(page, 'main', theme === 'dark'), theme).toEqual([])
    if (!(await definition.isVisible())) await term.press('Enter')
    expect(await violations(page, '.definition', theme === 'dark'), theme).toEqual([])
  }
  await page.keyboard.press('Escape')
  await expect(definition).toHaveCount(0)
  await expect(term).toBeFocused()

  // All terms, and from one of them to its lesson.
  await term.press('Enter')
  await definition.getByRole('button', { name: 'All terms' }).click()
  const all = lab.get('glossary-dialog')
  await expect(all.getByRole('heading', { name: 'Advantage' })).toBeVisible()
  expect(await violations(page, 'dialog[open]', true)).toEqual([])
  await all.getByRole('button', { name: 'Reading entropy' }).first().click()
  await expect(all).toBeHidden()
  await expect(page.getByRole('heading', { name: 'Reading entropy' })).toBeVisible()
  expect(page.url()).toContain('lesson=entropy')
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })
  test('a definition stays within the window, and a press beside it closes it', async ({
    lab,
    page,
  }) => {
    await lab.open()
    await lab.waitForStatus('idle')
    const terms = lab.get('reward-chart-card').locator('.term')
    for (let i = 0; i < (await terms.count()); i++) {
      await terms.nth(i).click()
      const box = await lab.get('definition').boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
      await page.mouse.click(5, 5)
      await expect(lab.get('definition')).toHaveCount(0)
    }
  })
})
