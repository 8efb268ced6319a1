// A finger scrolls the page wherever it begins, and sets a slider only along it.
import type { CDPSession, Locator, Page } from '@playwright/test'
import { expect, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const PHONE = { width: 390, height: 844 }

/** Moves that a finger reports. */
const FRAMES = 12

async function fingers(page: Page): Promise<CDPSession> {
  await page.setViewportSize(PHONE)
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  return session
}

type Touch = 'touchStart' | 'touchMove' | 'touchEnd'

/** Moves a finger from a point of an element, which is in sight; by nothing it taps. */
async function swipe(session: CDPSession, at: Locator, dx: number, dy: number, share = 0.5) {
  const box = await at.boundingBox()
  if (!box) throw new Error('nothing is there')
  const [x, y] = [box.x + share * box.width, box.y + box.height / 2]
  const touch = (type: Touch, part: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x: x + part * dx, y: y + part * dy }],
    })
  await touch('touchStart', 0)
  if (dx !== 0 || dy !== 0)
    for (let frame = 1; frame <= FRAMES; frame++) await touch('touchMove', frame / FRAMES)
  await touch('touchEnd', 1)
}

/** The free part of each phase on the line: how wide and high it is where nothing lies over it. */
const freeParts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.phase-segment')].map((phase) => {
      const { left, right, top, bottom, width, height } = phase.getBoundingClientRect()
      const isFree = (x: number, y: number) =>
        document.elementFromPoint(x, y)?.closest('.phase-segment') === phase
      const middle = (top + Math.min(bottom, top + 24)) / 2
      const at = (from: number, to: number) =>
        Array.from({ length: Math.round(to - from) }, (_, i) => from + i + 0.5)
      const columns = at(left, right).filter((x) => isFree(x, middle))
      const x = columns[Math.floor(columns.length / 2)] ?? left
      const rows = at(top, bottom).filter((y) => isFree(x, y))
      // A part of a pixel at its edge is its own, too.
      return { wide: Math.min(width, columns.length + 1), high: Math.min(height, rows.length + 1) }
    }),
  )

const scrolled = (page: Page) => page.evaluate(() => scrollY)

test('a slider is set by a finger along it or a tap, and not by one that scrolls', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  await lab.waitForStatus('idle')
  await page.locator('.settings.closed button').click()
  await expect(page.locator('.settings-search kbd')).toBeHidden()
  const slider = page.getByLabel('Prompts per step, slider')
  const number = page.locator('#field-rollout-train_batch_size')
  await slider.scrollIntoViewIfNeeded()
  const before = await number.inputValue()
  const down = () => page.locator('#settings-body').evaluate(({ scrollTop }) => scrollTop)
  const from = await down()
  await swipe(session, slider, 0, -200, 0.1)
  await expect.poll(down).toBeGreaterThan(from + 100)
  expect(await scrolled(page)).toBe(0)
  await expect(number).toHaveValue(before)
  await slider.scrollIntoViewIfNeeded()
  await swipe(session, slider, 40, 4, 0.3)
  await expect(number).not.toHaveValue(before)
  const along = await number.inputValue()
  await swipe(session, slider, 0, 0, 0.95)
  await expect(number).not.toHaveValue(along)
  await session.detach()
})

test('lists of answers let a finger scroll the page, and show more by a button', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  for (const [tab, list, below] of [
    ['learn', '.samples .scroll', 'samples-below'],
    ['tokens', '.inspector-body .scroll', 'bundles-below'],
  ] as const) {
    await lab.show(tab)
    const place = page.locator(list)
    await expect(lab.get(below).getByRole('button')).toBeVisible()
    await place.evaluate((element) => element.scrollIntoView({ block: 'center' }))
    const from = await scrolled(page)
    await swipe(session, place, 0, -200)
    await expect.poll(() => scrolled(page), tab).toBeGreaterThan(from + 100)
    expect(await place.evaluate(({ scrollTop }) => scrollTop)).toBe(0)
    const { height } = (await place.boundingBox()) ?? { height: 0 }
    await lab.get(below).getByRole('button').click()
    await expect
      .poll(async () => (await place.boundingBox())?.height, tab)
      .toBeGreaterThan(1.4 * height)
  }
  await session.detach()
})

test('a tap on a token opens what is known of it, and not the whole list', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  await lab.show('tokens')
  const below = lab.get('bundles-below').getByRole('button')
  const left = async () => Number(/\d+/.exec(await below.innerText())?.[0])
  await expect(below).toBeVisible()
  const before = await left()
  // The lowest answer that is seen: what is known of it has no room above the cut.
  await page.locator('.bundle-head').nth(2).click()
  const token = page.locator('.told .tok').last()
  const t = Number(await token.getAttribute('data-t'))
  await swipe(session, token, 0, 0)
  const readout = page.locator('.told-readout')
  await expect(readout).toBeInViewport({ ratio: 0.5 })
  expect(await left()).toBeGreaterThanOrEqual(before - 4)
  // The token stays chosen in the seven stages, and while another tab is open.
  expect(t).toBeGreaterThan(0)
  await lab.get('show-stages').click()
  // At the stage that computes what the colours say, in sight.
  await expect(lab.get('stage-says')).toContainText('5. Advantages')
  await expect(lab.get('stage-says')).toBeInViewport({ ratio: 1 })
  await expect(lab.get('token-exact')).toContainText(`Token ${t + 1}:`)
  await lab.show('learn')
  await lab.show('tokens')
  await expect(readout).toBeAttached()
  await session.detach()
})

test('the page behind a lesson stays where it is when the lesson ends', async ({ lab, page }) => {
  const session = await fingers(page)
  await lab.open()
  await page.evaluate(() => {
    location.hash = '#lesson=entropy'
  })
  const lessons = lab.get('lessons')
  await expect(lab.get('lesson-next')).toBeAttached()
  await lessons.evaluate((element) => {
    element.scrollTop = element.scrollHeight
  })
  const from = await scrolled(page)
  for (let times = 0; times < 2; times++) await swipe(session, lessons, 0, -150)
  // What a wheel does, too.
  const box = await lessons.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 150)
  await page.mouse.wheel(0, 600)
  // A frame in which it would have moved.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))),
  )
  expect(await scrolled(page)).toBe(from)
  await session.detach()
})

test('the page behind a dialog stays where it is, and a tapped tab keeps no colour of a pointer', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  await lab.waitForStatus('idle')
  for (const size of [PHONE, { width: 844, height: 390 }]) {
    await page.setViewportSize(size)
    for (const [button, dialog] of [
      ['share-options', 'share'],
      ['open-presets', 'presets-dialog'],
    ]) {
      await lab.get(button).click()
      const body = lab.get(dialog)
      await expect(body.locator(':is(form, h3)').first()).toBeVisible()
      const from = await scrolled(page)
      await body.evaluate((element) => {
        element.scrollTop = element.scrollHeight
      })
      for (let times = 0; times < 2; times++) await swipe(session, body, 0, -120)
      // A frame in which it would have moved.
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))),
      )
      expect(await scrolled(page), dialog).toBe(from)
      await page.keyboard.press('Escape')
      await expect(body).toBeHidden()
    }
  }
  await page.setViewportSize(PHONE)
  const ground = (tab: string) =>
    lab.get(tab).evaluate((button) => getComputedStyle(button).backgroundColor)
  await swipe(session, lab.get('tab-inside'), 0, 0)
  await expect(lab.get('tab-inside')).toHaveAttribute('aria-selected', 'true')
  expect(await ground('tab-inside')).toBe(await ground('tab-runs'))
  await session.detach()
})

test('a tap on a chart shows the reading of that step until the next tap elsewhere', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  // The recording fills it.
  const chart = page.locator('.plot-area').first()
  await chart.scrollIntoViewIfNeeded()
  await chart.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  const line = chart.locator('.crosshair')
  await expect(line).toBeHidden()
  await swipe(session, chart, 0, 0, 0.44)
  await expect(line).toBeVisible()
  const before = await line.getAttribute('data-step')
  // The number of the axis that its label half covers is not seen.
  const numbers = chart.locator('xpath=..').locator('text[text-anchor=middle]:visible')
  await expect(numbers.filter({ hasText: '40' })).toHaveCount(1)
  await expect(numbers.filter({ hasText: '20' })).toHaveCount(0)
  // Its numbers may be below: the page can be scrolled to them.
  await swipe(session, chart, 0, -100, 0.6)
  await expect(line).toHaveAttribute('data-step', String(before))
  await swipe(session, chart, 0, 0, 0.8)
  await expect(line).not.toHaveAttribute('data-step', String(before))
  await swipe(session, lab.get('tab-learn'), 0, 0)
  await expect(line).toBeHidden()
  await session.detach()
})

test('every phase on the line is as large as a finger needs, and nothing lies over it', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open(
    `v=1&p=tiny&phases.0.steps=6&phases.1.steps=1&phases.2.steps=40${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`,
  )
  await lab.waitForStatus('idle')
  for (const state of ['at rest', 'a run']) {
    if (state === 'a run') {
      await lab.get('train').click()
      await lab.waitForStep(2)
    }
    for (const [width, height] of [
      [390, 844],
      [844, 390],
      [720, 450],
    ]) {
      await page.setViewportSize({ width, height })
      await page.evaluate(() => scrollTo(0, 0))
      await lab.get('phases').scrollIntoViewIfNeeded()
      await expect
        .poll(
          async () =>
            (await freeParts(page)).filter(
              ({ wide, high }) =>
                wide < (state === 'a run' ? 40 : 24) || high < (height > 560 ? 40 : 24),
            ),
          {
            message: `${state}, ${width} × ${height}`,
          },
        )
        .toEqual([])
    }
  }
  await session.detach()
  // The end of the chosen one can be dragged.
  await page.setViewportSize(PHONE)
  await expect(lab.get('phase-boundary-2')).toBeHidden()
  await page.locator('.phase-segment').last().click()
  const end = lab.get('phase-boundary-2')
  await expect(end).toHaveAttribute('aria-valuenow', '40')
  const box = await end.boundingBox()
  if (!box) throw new Error('no end')
  await page.mouse.move(box.x + 12, box.y + 4)
  await page.mouse.down()
  await page.mouse.move(box.x - 60, box.y + 4, { steps: 4 })
  await page.mouse.up()
  await expect(end).not.toHaveAttribute('aria-valuenow', '40')
  // The ring of one that has the focus is drawn over the fills and the ends.
  const first = page.locator('.phase-segment').first()
  await page.keyboard.press('Tab')
  await first.focus()
  const above = await first.evaluate((own) => {
    const ring = Number(getComputedStyle(own, '::after').zIndex)
    const ends = [...document.querySelectorAll('.phase-boundary')]
    return ends.every((end) => ring > Number(getComputedStyle(end).zIndex))
  })
  expect(above).toBe(true)
  // Its worker is the next page's too.
  await lab.get('reset').click()
  await lab.waitForStatus('idle')
})

test('what a finger presses is as high as one, in bars that are no higher for it', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  await lab.waitForStatus('idle')
  /** How much of the window at a control is its own: wide and high, from its middle. */
  const own = (selector: string) =>
    page
      .locator(selector)
      .filter({ visible: true })
      .first()
      .evaluate((control) => {
        control.scrollIntoView({ block: 'center' })
        const { x, y, width, height } = control.getBoundingClientRect()
        const [left, top] = [Math.round(x + width / 2), Math.round(y + height / 2)]
        const isIts = (dx: number, dy: number) =>
          control.contains(document.elementFromPoint(left + dx, top + dy))
        const far = (dx: number, dy: number) => {
          let n = 0
          while (n < 40 && isIts(n * dx, n * dy)) n++
          return n
        }
        // The pixel of the middle is counted to both sides, and an edge may lie within one.
        return { wide: far(-1, 0) + far(1, 0), high: far(0, -1) + far(0, 1) }
      })
  const head = ['open-lessons', 'commands', 'language'].map((id) => `[data-testid=${id}]`)
  for (const which of [1, 2, 3]) head.push(`.theme-switch label:nth-of-type(${which})`)
  for (const control of [...head, '.legend .only', '[data-testid=add-phase]'])
    expect((await own(control)).wide, control).toBeGreaterThanOrEqual(43)
  const lines = ['.phase-segment', '.legend .only', '.chart-numbers > summary']
  const tabs = [...head, '.phase-boundary', '[data-testid=add-phase]', '[data-testid=tab-learn]']
  for (const control of [...lines, ...tabs, '[data-testid=write-first]'])
    expect((await own(control)).high, control).toBeGreaterThanOrEqual(43)
  await page.evaluate(() => scrollTo(0, 1200))
  const { bottom } = await lab
    .get('tab-learn')
    .evaluate((tab) => tab.closest('.work')?.getBoundingClientRect() ?? new DOMRect())
  expect(bottom).toBeLessThanOrEqual(64)
  // The bar of a low window stays in sight; it is at most a fifth of it.
  await page.setViewportSize({ width: 844, height: 390 })
  await page.evaluate(() => scrollTo(0, 0))
  for (const control of ['.preset select', '#train', '#share-options', '#settings-toggle'])
    expect((await own(control)).high, control).toBeGreaterThanOrEqual(40)
  const bar = await page.locator('.bar').boundingBox()
  expect(bar?.height).toBeLessThanOrEqual(390 / 5)
  await page.setViewportSize(PHONE)
  await page.locator('.settings.closed button').click()
  for (const control of ['select', 'input[type=number]', 'input[type=range]', 'summary'])
    expect((await own(`.settings-body ${control}`)).high, control).toBeGreaterThanOrEqual(43)
  for (const control of ['settings-search', 'settings-toggle', 'undo'])
    expect((await own(`[data-testid=${control}]`)).high, control).toBeGreaterThanOrEqual(43)
  await session.detach()
})

test('the menu of a chart is as large as a finger, and its head no higher', async ({
  lab,
  page,
}) => {
  const session = await fingers(page)
  await lab.open()
  const menu = lab.get('reward-chart-menu').locator('summary')
  await menu.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  const found = await menu.evaluate((summary) => {
    const { x, y, width, height } = summary.getBoundingClientRect()
    const isIts = (dx: number, dy: number) =>
      summary.contains(document.elementFromPoint(x + width / 2 + dx, y + height / 2 + dy))
    return { corners: [-21, 21].flatMap((dx) => [-21, 21].map((dy) => isIts(dx, dy))), height }
  })
  expect(found).toEqual({ corners: [true, true, true, true], height: 24 })
  await session.detach()
})
