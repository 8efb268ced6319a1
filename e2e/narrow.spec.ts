// What the narrowest windows say whole: phones, and a large letter on a large screen.
import type { Page } from '@playwright/test'
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

/** How far a finger can be off the middle of a button, both sides together. */
const reach = (page: Page, id: string) =>
  page.getByTestId(id).evaluate((button) => {
    button.scrollIntoView({ block: 'center' })
    const { left, top, width, height } = button.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const isOwn = (dx: number, dy: number) =>
      document.elementFromPoint(x + dx, y + dy)?.closest('button') === button
    const off = Array.from({ length: 80 }, (_, i) => i - 39.5)
    return Math.min(off.filter((d) => isOwn(d, 0)).length, off.filter((d) => isOwn(0, d)).length)
  })

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
  // The step and the reward have one place, from when a run is being prepared.
  const stepPlace = () =>
    page.evaluate(() => {
      const at = (id: string) => {
        const { right, y } =
          document.querySelector(`dl > div:has([data-testid=${id}])`)?.getBoundingClientRect() ??
          new DOMRect()
        return [right, y + scrollY - (document.querySelector<HTMLElement>('.work')?.offsetTop ?? 0)]
      }
      return [...at('step-count'), ...at('reward-value')].map(Math.round).join(' ')
    })
  const awaited = page.waitForFunction(() => document.querySelector('.work.with-run .awaited'))
  await lab.get('train').click()
  await awaited
  const prepared = await stepPlace()
  await lab.waitForStep(1)
  await expect.poll(stepPlace).toBe(prepared)
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
    const [numbers, heldOut] = [
      await box(lab, '.numbers dl'),
      await box(lab, '[data-testid=accuracy-value]'),
    ]
    expect(heldOut.bottom, where).toBeLessThanOrEqual(numbers.bottom)
    // The line of steps has a row of its own, as wide as the bar.
    expect((await box(lab, '.axis-track')).width, where).toBeGreaterThanOrEqual(0.8 * width)
    // The step and the reward are in the rows that stay, and lie on nothing of them.
    await page.evaluate(() => scrollTo(0, 1500))
    const state = await box(lab, '[data-testid=status]')
    for (const id of ['step-count', 'reward-value']) {
      const number = await box(lab, `dl > div:has([data-testid=${id}])`)
      expect(number.x, `${id}, ${where}`).toBeGreaterThanOrEqual(state.x + state.width)
      expect(number.x + number.width, `${id}, ${where}`).toBeLessThanOrEqual(width)
      expect(number.y, `${id}, ${where}`).toBeGreaterThanOrEqual(0)
      expect(number.bottom, `${id}, ${where}`).toBeLessThanOrEqual((await box(lab, '.tabs')).y + 1)
    }
    // The word of it too, where there is room.
    const word = await box(lab, '[data-testid=status] span')
    if (width >= 360) expect(word.width, where).toBeGreaterThan(30)
    await page.evaluate(() => scrollTo(0, 0))
    const labels = await page.locator('.forest-labels').evaluate((list) => {
      const end = list.getBoundingClientRect().right
      return [...list.children].filter((label) => label.getBoundingClientRect().right > end).length
    })
    expect(labels, where).toBe(0)
  }
  // In a wide one a number that grows moves none beside it.
  await page.setViewportSize({ width: 1440, height: 900 })
  const places = await page.locator('.numbers dl').evaluate((list) => {
    const of = (id: string) => list.querySelector(`[data-testid=${id}]`) as HTMLElement
    const left = of('time-left')
    if (left.parentElement) left.parentElement.hidden = false
    return [
      ['9 s', '0.0 %', '7.1 %'],
      ['about 4 min', '50.0 %', '73.5 %'],
      ['12 min 30 s', '100.0 %', '93.0 %'],
    ].map(([time, reward, heldOut]) => {
      left.textContent = time
      of('reward-value').textContent = reward
      of('accuracy-value').textContent = heldOut
      return [...list.children].map((part) => Math.round(part.getBoundingClientRect().x)).join()
    })
  })
  expect(new Set(places).size).toBe(1)
  // The name of the number breaks beside that of the run, also where a scrollbar takes room.
  await lab.show('runs')
  await page.setViewportSize({ width: 305, height: 640 })
  const words = (name: string) =>
    lab.get(name).evaluate((head) => {
      const range = document.createRange()
      range.selectNodeContents(head)
      const { left, right } = range.getBoundingClientRect()
      return { left, right }
    })
  expect((await words('sort-name')).right).toBeLessThanOrEqual((await words('sort-metric')).left)
  // A number of a column is said whole behind its name.
  const cells = await page
    .locator('tr.run td.run-cell:visible')
    .evaluateAll((all) => all.map((cell) => cell.scrollWidth - cell.clientWidth))
  expect(cells.length).toBeGreaterThan(0)
  expect(Math.max(...cells)).toBeLessThanOrEqual(0)
  await page.setViewportSize({ width: 440, height: 900 })
  // A step that there is no way to has no more of a border than one that there is.
  const border = (id: string) =>
    lab.get(id).evaluate((button) => getComputedStyle(button).borderTopColor)
  await expect(lab.get('kept-next')).toBeDisabled()
  expect(await border('kept-next')).toBe(await border('kept-previous'))
  // Of another step, and zoomed, the bar of a phone still says how good the answers were.
  await lab.show('learn')
  await lab.get('zoom-last').fill('8')
  await lab.get('kept-previous').click()
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 })
    const numbers = await box(lab, '.numbers dl')
    const heldOut = await box(lab, '[data-testid=accuracy-value]')
    expect(heldOut.bottom, `${width}`).toBeLessThanOrEqual(numbers.bottom)
    await expect(page.locator('.step-number .of-all'), `${width}`).toBeVisible()
  }
  await lab.get('zoom-reset').click()
  await lab.get('follow').click()
  await page.setViewportSize({ width: 390, height: 844 })
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  for (const id of ['kept-previous', 'download-jsonl', 'download-csv'])
    expect(await reach(page, id), id).toBeGreaterThanOrEqual(40)
  // What stays of the bar in a low window is whole below the controls, which a finger has higher.
  await page.setViewportSize({ width: 844, height: 390 })
  await page.evaluate(() => scrollTo(0, 1500))
  const stays = await box(lab, '.bar')
  expect((await box(lab, '.numbers dl')).y).toBeGreaterThanOrEqual(stays.bottom)
  await session.detach()
  await page.setViewportSize({ width: 440, height: 900 })
  // As wide as the studies below it.
  await lab.show('study')
  const search = lab.get('study-search')
  await expect(search).toBeVisible()
  const [field, list] = [await search.boundingBox(), await box(lab, '.study-search')]
  expect(field?.width).toBeCloseTo(list.width, 0)
})

test('a fresh page is as wide as the narrowest window, and its controls are in it', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await lab.open()
  await lab.waitForStatus('idle')
  await expect(lab.get('write-first')).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  const controls = await box(lab, '.controls')
  expect(controls.bottom).toBeLessThanOrEqual(640)
  expect(controls.x + controls.width).toBeLessThanOrEqual(320)
  // All three themes are there, and the chosen one has another ground than the others.
  const themes = page.locator('.theme-switch label')
  for (const width of [320, 360, 390, 844]) {
    await page.setViewportSize({ width, height: 640 })
    for (const [which, theme] of ['light', 'dark', 'system'].entries()) {
      await themes.nth((which + 1) % 3).click()
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
      const grounds = await themes.evaluateAll((labels) =>
        labels.map((label) => getComputedStyle(label).backgroundColor),
      )
      expect(grounds.filter((ground) => ground === grounds[(which + 1) % 3])).toHaveLength(1)
      for (const label of await themes.all())
        await expect(label, `${width}, ${theme}`).toBeInViewport({ ratio: 1 })
    }
    const places = await themes.evaluateAll((labels) =>
      labels.map((label) => label.getBoundingClientRect().width),
    )
    expect(Math.min(...places), `${width}`).toBeGreaterThanOrEqual(width < 560 ? 40 : 28)
    const head = await page.locator('.header').evaluate((it) => it.scrollWidth - it.clientWidth)
    expect(head, `${width}`).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize({ width: 320, height: 640 })
  const name = lab.get('write-first')
  expect(await name.evaluate((it) => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0)
})

test('of why Train is off nothing is seen under a sheet of lessons', async ({ lab, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('settings-toggle').click()
  await page.locator('#field-rollout-n').fill('1')
  const wrong = lab.get('wrong-fields')
  await expect(wrong).toBeVisible()
  await lab.get('settings-toggle').click()
  await lab.get('open-lessons').click()
  await expect(lab.get('lessons')).toBeVisible()
  const [bar, sheet] = [await box(lab, '.controls-wrong'), await box(lab, '.lessons')]
  expect(bar.bottom).toBeLessThanOrEqual(sheet.bottom)
})
