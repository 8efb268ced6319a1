// What a low window, as of a phone on its side, keeps in sight.
import { boxOf as box, cutChoices, cutOff, NARROW, sticksOut, wrongLabels } from './bars.ts'
import { expect, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases.0.steps=6&phases.1.steps=2&phases.2.steps=40${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`

test('in a low window the experiment, the settings and the adapter share two rows with the rest', async ({
  lab,
  page,
}) => {
  for (const [width, height] of [
    [844, 390],
    [720, 450],
    [667, 375],
    [600, 450],
  ]) {
    await page.setViewportSize({ width, height })
    await lab.open()
    await expect(page.locator('.settings.closed button')).toBeVisible()
    await lab.waitForStatus('idle')
    await expect(page.locator('.forest-labels li').first()).toBeVisible()
    // What is said over the picture ends where its ground does, and covers no layer.
    expect(await sticksOut(page), `${width}`).toEqual([])
    expect(await wrongLabels(page), `${width}`).toEqual([])
    const says = await box(lab, '.forest-says')
    for (const label of await page.locator('.forest-labels li').all()) {
      const { x, y, height } = (await label.boundingBox()) ?? { x: 0, y: 0, height: 0 }
      expect(x >= says.x + says.width || y + height <= says.y, `${width}`).toBe(true)
    }
    const bar = await box(lab, '.bar')
    const settings = await box(lab, '.settings.closed button')
    expect(settings.y, `${width}`).toBeGreaterThanOrEqual(bar.y)
    expect(settings.bottom, `${width}`).toBeLessThanOrEqual(bar.bottom)
    const header = await box(lab, '.header')
    expect(header.height, `${width}`).toBeLessThanOrEqual(54)
    expect((await box(lab, '.forest')).y, `${width}`).toBeLessThanOrEqual(114)
    expect((await box(lab, '.tabs')).bottom, `${width}`).toBeLessThanOrEqual(height)
  }
})

test('a run leaves a low window to its tab, and a phone shows the run beside a lesson', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 844, height: 390 })
  await lab.open(`${LINK}&model.num_hidden_layers=4`)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStep(1)
  // The forest that it moves is in sight, and the steps that it takes can be gone through.
  await expect(page.locator('.forest-canvas')).toBeInViewport({ ratio: 1 })
  expect((await box(lab, '.forest')).y).toBeGreaterThanOrEqual((await box(lab, '.bar')).bottom)
  expect((await box(lab, '.axis-scroll')).y).toBeGreaterThanOrEqual((await box(lab, '.bar')).bottom)
  for (const part of ['kept-previous', 'kept-next', 'follow', 'status'])
    await expect(lab.get(part), part).toBeInViewport({ ratio: 1 })
  // What may come between them later is said of the run.
  expect((await box(lab, '.tabs')).bottom).toBeLessThanOrEqual(0.52 * 390)
  await lab.waitForStep(10)
  await expect(page.locator('.forest-canvas')).toBeInViewport({ ratio: 1 })
  expect((await box(lab, '[data-testid=pause]')).y).toBeGreaterThanOrEqual(0)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.evaluate(() => scrollTo(0, 0))
  await expect(page.locator('.work .phase-name').last()).toBeInViewport({ ratio: 1 })
  const labels = page.locator('.forest-labels li:visible')
  for (const label of await labels.all()) await expect(label).toBeInViewport({ ratio: 1 })
  await expect(labels).not.toHaveCount(0)
  await page.evaluate(() => {
    location.hash = '#lesson=entropy'
  })
  await expect(lab.get('lessons')).toBeVisible()
  expect((await box(lab, '.lessons')).y).toBeGreaterThanOrEqual(422)
  await expect(lab.get('reward-value')).toBeInViewport({ ratio: 1 })
  for (const label of await labels.all()) await expect(label).toBeInViewport({ ratio: 1 })
  // The settings can be read beside it.
  await lab.get('settings-toggle').click()
  await expect(page.locator('#settings-body')).toBeInViewport()
  await lab.get('settings-toggle').click()
  // What the sheet covers can be scrolled from under it.
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  const content = await box(lab, '.tab-place')
  expect(content.bottom).toBeLessThanOrEqual((await box(lab, '.lessons')).y)
})

test('a lesson has nearly all of a low window, and can be made lower and higher', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 844, height: 390 })
  await lab.open()
  await lab.get('open-lessons').click()
  const fold = lab.get('fold-lessons')
  for (const [width, height] of NARROW.slice(2)) {
    await page.setViewportSize({ width, height })
    await expect(fold).toHaveText('Lower')
    expect((await box(lab, '.lessons')).y, `${width}`).toBeLessThanOrEqual(46)
    // Nothing of the bar is seen between the head of the page and the sheet.
    const head = await box(lab, '.header')
    expect((await box(lab, '.lessons')).y, `${width}`).toBeLessThanOrEqual(head.bottom + 1)
    const settings = await box(lab, '.settings.closed button')
    const isUnder = await lab
      .get('lessons')
      .evaluate((own, [x, y]) => own.contains(document.elementFromPoint(x, y)), [
        settings.x + settings.width / 2,
        settings.y + settings.height / 2,
      ] as const)
    expect(isUnder, `${width}`).toBe(true)
  }
  await fold.click()
  for (const [width, height] of [...NARROW, [390, 844]]) {
    await page.setViewportSize({ width, height })
    await expect(fold).toHaveText('Higher')
    expect((await box(lab, '.lessons')).y, `${width}`).toBeGreaterThanOrEqual(height / 2 - 1)
    const target = await box(lab, '.lessons-fold')
    expect(Math.min(target.width, target.height), `${width}`).toBeGreaterThanOrEqual(44)
    const title = await box(lab, '.lessons-head h2')
    expect(title.x + title.width, `${width}`).toBeLessThanOrEqual(target.x)
  }
  await fold.click()
  await expect(fold).toHaveText('Lower')
  expect((await box(lab, '.lessons')).y).toBeLessThanOrEqual(46)
  // There is no sheet to fold where it stands beside the run.
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect(fold).toBeHidden()
})

test('a low window keeps in sight how the run is, and shows at its end what it came to', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 844, height: 390 })
  await lab.open(LINK.replace('steps=40', 'steps=120'))
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStep(4)
  for (const [width, height] of NARROW.slice(2)) {
    const where = `${width} × ${height}`
    await page.setViewportSize({ width, height })
    for (const tab of ['inside', 'learn'] as const) {
      // Playwright's own click would scroll first.
      await lab.get(`tab-${tab}`).dispatchEvent('click', { detail: 1 })
      for (const part of [
        'status',
        'accuracy-value',
        'step-count',
        'reward-value',
        'time-left',
        `tab-${tab}`,
      ])
        await expect(lab.get(part), `${part}, ${where}`).toBeInViewport({ ratio: 1 })
      const bar = await box(lab, '.bar')
      const work = await box(lab, '.work')
      expect((await box(lab, '.tabs')).bottom, where).toBeLessThanOrEqual(0.4 * height)
      expect(work.bottom - Math.max(bar.bottom, work.y), where).toBeLessThanOrEqual(66)
      // The settings stay with the experiment.
      const settings = await box(lab, '.settings.closed button')
      expect(settings.y, where).toBeGreaterThanOrEqual(bar.y)
      expect(settings.bottom, where).toBeLessThanOrEqual(bar.bottom)
      // What has scrolled away is behind the bar whole.
      const lowest = await page.evaluate(() => {
        const from = scrollY
        scrollTo(0, document.body.scrollHeight)
        const tools = document.querySelectorAll('.work :is(.axis-tools, .timeline-tools) > button')
        const ends = [...tools].map((tool) => tool.getBoundingClientRect().bottom)
        scrollTo(0, from)
        return Math.max(...ends)
      })
      expect(lowest, where).toBeLessThanOrEqual((await box(lab, '.bar')).bottom)
    }
  }
  // A lesson that has nearly all of it leaves the run its controls.
  await page.evaluate(() => scrollTo(0, 0))
  await lab.get('open-lessons').dispatchEvent('click', { detail: 1 })
  for (const [width, height] of [...NARROW.slice(2), [1100, 500]]) {
    await page.setViewportSize({ width, height })
    const pause = await box(lab, '[data-testid=pause]')
    expect(pause.bottom, `${width}`).toBeLessThanOrEqual((await box(lab, '.lessons')).y)
  }
  await page.keyboard.press('Escape')
  await expect(lab.get('lessons')).toHaveCount(0)
  await lab.waitForStatus('finished')
  await expect(lab.get('headline')).toBeInViewport({ ratio: 1 })
  await expect(lab.get('status')).toBeInViewport({ ratio: 1 })
  // What can be done with a run lies on none of its numbers.
  await lab.get('tab-runs').dispatchEvent('click', { detail: 1 })
  for (const [width, height] of NARROW.slice(2)) {
    await page.setViewportSize({ width, height })
    const tools = await box(lab, 'tr.run .run-tools')
    for (const cell of await page.locator('tr.run > .number:visible').all()) {
      const number = await cell.boundingBox()
      if (!number) throw new Error('a number has gone')
      const isApart = number.y + number.height <= tools.y + 1 || number.x + number.width <= tools.x
      expect(isApart, `${width}`).toBe(true)
    }
  }
})

test('a drag of the knob moves the step, and the way back from a zoom is whole', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  // Settings that are open give way to the run.
  await lab.get('settings-toggle').click()
  await expect(page.locator('#settings-body')).toBeVisible()
  await lab.get('train').click()
  await expect(page.locator('#settings-body')).toBeHidden()
  // A knob that moves on is not where it was measured.
  await lab.waitForStatus('finished', 200_000)
  const [knob, line] = [await box(lab, '.axis-now'), await box(lab, '.axis-track')]
  // A finger is wider than the knob.
  for (const beside of [-9, 9, 0]) {
    await lab.get('follow').click()
    const y = knob.y + knob.height / 2 + beside
    await page.mouse.move(knob.x + knob.width / 2, y)
    await page.mouse.down()
    await page.mouse.move(line.x, y, { steps: 4 })
    await page.mouse.up()
    await expect(lab.get('scrub-step'), `${beside}`).toHaveText(/^Step 0 of/)
    // What is said of another step leaves it where it is.
    expect((await box(lab, '.axis-now')).y, `${beside}`).toBeCloseTo(knob.y, 0)
  }
  // As high as a finger, which does not choose a phase with it.
  expect(line.height).toBeGreaterThanOrEqual(24)
  await lab.get('follow').click()
  await page.mouse.click(line.x + line.width / 2, line.y + 2)
  await expect(lab.get('follow')).toHaveAttribute('aria-pressed', 'false')
  await expect(page.locator('.timeline-chosen')).toHaveCount(0)
  // Names of phases scroll out of sight whole.
  await page.evaluate(() => scrollTo(0, 1200))
  const name = await box(lab, '.work .phase-name')
  expect(name.bottom).toBeLessThanOrEqual(1)
  await page.evaluate(() => scrollTo(0, 0))
  await expect(lab.get('zoom-range')).toBeHidden()
  await lab.get('zoom-last').fill('4')
  const reset = lab.get('zoom-reset')
  const bracket = await lab.get('zoom-first').evaluate((slider) => {
    const handle = slider.closest('.axis-handle') ?? slider
    const { left } = getComputedStyle(handle, '::after')
    return handle.getBoundingClientRect().left + Number.parseFloat(left)
  })
  expect(bracket).toBeGreaterThanOrEqual((await box(lab, '.work')).x + 4)
  await page.evaluate(() => scrollTo(0, 1200))
  await expect(reset).toBeInViewport({ ratio: 1 })
  await page.evaluate(() => scrollTo(0, 0))
  for (const [width, height] of [[360, 740], [390, 844], [610, 900], ...NARROW]) {
    const where = `${width} × ${height}`
    await page.setViewportSize({ width, height })
    await expect.poll(() => cutOff(page), where).toEqual([])
    await reset.scrollIntoViewIfNeeded()
    await expect(reset, where).toBeInViewport({ ratio: 1 })
    const [button, steps] = [await box(lab, '.zoom-reset'), await box(lab, '.axis-scroll')]
    const isBeside = button.x + button.width <= steps.x + 1 || button.x >= steps.x + steps.width - 1
    const isApart = button.bottom <= steps.y + 1 || button.y >= steps.bottom - 1
    expect(isBeside || isApart, where).toBe(true)
  }
  for (const [width, height] of [...NARROW.slice(2), [960, 540]]) {
    await page.setViewportSize({ width, height })
    await page.evaluate(() => scrollTo(0, 1200))
    await expect(reset, `${width} × ${height}`).toBeInViewport({ ratio: 1 })
    await reset.click({ trial: true })
  }
  await reset.click()
  await expect(lab.get('zoom-range')).toBeHidden()
  // What the table of runs shows, and what a pair of them begins with, is said whole.
  await lab.get('tab-runs').click()
  await expect(lab.get('runs-metric')).toBeVisible()
  await expect(lab.get('duel-source')).toBeVisible()
  for (const [width, height] of [[360, 740], [390, 844], ...NARROW]) {
    await page.setViewportSize({ width, height })
    const lists = '.runs-toolbar select, .duel-choice select'
    expect(await cutChoices(page, lists), `${width} × ${height}`).toEqual([])
    // Beside the settings there is no room for both.
    if (width < 600 || width >= 900) continue
    const [statistic, metric] = [
      await box(lab, '[data-testid=runs-statistic]'),
      await box(lab, '[data-testid=runs-metric]'),
    ]
    expect(metric.y, `${width} × ${height}`).toBeCloseTo(statistic.y, 0)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  expect((await box(lab, '.findings summary')).height).toBeGreaterThanOrEqual(44)
  await lab.get('tab-gpu').click()
  expect((await box(lab, '.kernel-choice summary')).height).toBeGreaterThanOrEqual(24)
})

test('the last command can be reached in a low window', async ({ lab, page }) => {
  await page.setViewportSize({ width: 844, height: 390 })
  await lab.open()
  await lab.get('commands').click()
  for (const [width, height] of NARROW) {
    await page.setViewportSize({ width, height })
    const palette = await box(lab, '.palette-dialog')
    expect(palette.bottom, `${width}`).toBeLessThanOrEqual(height - 8)
  }
})

test('in a low window the link that is shared is in sight beside what can be done with it', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  for (const [width, height] of [...NARROW.slice(2), [1100, 500]]) {
    await page.setViewportSize({ width, height })
    await lab.get('share-options').click()
    await expect(lab.get('share-link')).toBeInViewport({ ratio: 1 })
    const [link, ways] = [await box(lab, '[data-testid=share-link]'), await box(lab, '.share-ways')]
    expect(link.bottom, `${width}`).toBeLessThanOrEqual(ways.y)
    expect(link.width, `${width}`).toBeGreaterThan(0.8 * width)
    await page.keyboard.press('Escape')
  }
})
