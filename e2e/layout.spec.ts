// Where things stand on the page: what only a browser can tell.
import { boxOf as box, cutOff, NARROW, sticksOut } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'
import { unfoldWriting } from './writing.ts'

const LINK = `v=1&p=tiny&phases.0.steps=6&phases.1.steps=2&phases.2.steps=40${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`

test('at rest one card heads the charts, and the line of phases is left alone while the recording plays', async ({
  lab,
  page,
}) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  await expect(lab.get('at-rest')).toContainText('A recording of')
  await expect(lab.get('time-axis')).not.toHaveClass(/back/)
  const [note, intro] = [await box(lab, '.at-rest'), await box(lab, '.intro')]
  expect(Math.abs(intro.y - note.bottom)).toBeLessThanOrEqual(2)
  const tools = await box(lab, '.chart-tools')
  expect(tools.y).toBeGreaterThan(intro.y)
  expect(tools.bottom).toBeLessThan(intro.bottom)
  expect((await box(lab, '.card.chart')).y).toBeLessThanOrEqual(650)
})

test('a legend on a phone says its names and values whole', async ({ lab, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open()
  const legend = page.locator('.card.chart .legend').first()
  await expect(legend).toContainText('fit')
  const cut = await legend.evaluate((list) =>
    [...list.querySelectorAll<HTMLElement>('.cut-name, button')]
      .filter((part) => part.scrollWidth > part.clientWidth + 1)
      .map((part) => part.innerText),
  )
  expect(cut).toEqual([])
})

test('a phase too short for its name has its number', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open(
    LINK.replace('0.steps=6', '0.steps=200')
      .replace('1.steps=2', '1.steps=10')
      .replace('2.steps=40', '2.steps=200'),
  )
  const phase = page.locator('.phase').nth(1)
  await expect(phase.locator('.phase-words')).toHaveAttribute('data-short', 'L2')
  expect((await phase.boundingBox())?.width).toBeLessThanOrEqual(36)
  await expect(phase.locator('.phase-mark')).toBeVisible()
  await expect(phase.locator('.phase-words')).toBeHidden()
})

test('a chosen phase leaves the other tools their words, and goes with its experiment', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await page.locator('.phase-segment').last().click()
  const chosen = page.locator('.timeline-chosen')
  await expect(chosen).toBeVisible()
  expect((await box(lab, '.add-words')).width).toBeGreaterThan(20)
  await lab.get('preset').selectOption('first-steps')
  await expect(chosen).toHaveCount(0)
  // What does not fit of its name is said to be missing.
  await expect(lab.get('preset')).toHaveCSS('text-overflow', 'ellipsis')
})

test('a double click on Train opens no tab that moves below it', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open(LINK)
  const tab = page.getByRole('tab', { name: 'Inside' })
  // As the browser tells a second press in one place.
  await tab.dispatchEvent('click', { detail: 2 })
  await expect(tab).toHaveAttribute('aria-selected', 'false')
  await tab.dispatchEvent('click', { detail: 1 })
  await expect(tab).toHaveAttribute('aria-selected', 'true')
})

test('beside a lesson nothing of the run is cut in a narrow window', async ({ lab, page }) => {
  const expectWhole = async (state: string) => {
    for (const [width, height] of NARROW) {
      const where = `${state}, ${width} × ${height}`
      await page.setViewportSize({ width, height })
      await page.evaluate(() => scrollTo(0, 0))
      expect(await sticksOut(page), where).toEqual([])
      // The line of phases follows a new width, and the run goes on meanwhile.
      await expect.poll(() => cutOff(page), where).toEqual([])
      const lessons = await box(lab, '.lessons')
      // Half of a low window would be a slot: there the lesson leaves the head of the page.
      const least = height > 560 ? height / 2 : 41
      expect(lessons.y, where).toBeGreaterThanOrEqual(least - 1)
      expect(lessons.bottom, where).toBeGreaterThanOrEqual(height - 1 - (width < 900 ? 60 : 0))
    }
  }
  await page.setViewportSize({ width: 1100, height: 800 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('open-lessons').click()
  await expect(lab.get('lessons')).toBeVisible()
  await expectWhole('at rest')
  await page.setViewportSize({ width: 1100, height: 800 })
  await lab.get('train').click()
  await lab.waitForStep(10)
  await expectWhole('a run')
})

/** The line of phases and steps can be read and dragged, beside the tools of a chosen phase too. */
async function expectLineOfSteps(lab: LabPage, where: string): Promise<void> {
  const phase = lab.page.locator('.phase-segment').last()
  for (const least of [220, 120]) {
    expect((await box(lab, '.axis-scroll')).width, where).toBeGreaterThanOrEqual(least)
    expect((await box(lab, '.work')).height, where).toBeLessThanOrEqual(96)
    const [line, tools, more] = [
      await box(lab, '.axis-scroll'),
      await box(lab, '.axis-tools'),
      await box(lab, '.timeline-tools'),
    ]
    expect(line.x + line.width, where).toBeLessThanOrEqual(tools.x + 12)
    expect(tools.x + tools.width, where).toBeLessThanOrEqual(more.x + 1)
    await phase.click()
  }
}

test('beside open settings nothing of the bars is cut in a narrow window, and no tool lies on another', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 900, height: 700 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStep(4)
  await page.setViewportSize({ width: 1000, height: 700 })
  for (const id of ['reward-value', 'accuracy-value', 'time-left'])
    await expect(lab.get(id)).toBeInViewport({ ratio: 1 })
  for (const width of [900, 960, 1000, 1200]) {
    await page.setViewportSize({ width, height: 700 })
    await expect(page.locator('.settings-head')).toBeVisible()
    // The line of phases follows a new width, and the run goes on meanwhile.
    await expect.poll(() => cutOff(page), `${width}`).toEqual([])
    await expectLineOfSteps(lab, `${width}`)
    await expect.poll(() => cutOff(page), `${width}`).toEqual([])
    const smoothing = await page.locator('.smoothing').boundingBox()
    const downloads = await box(lab, '.downloads')
    if (!smoothing) throw new Error('nothing smooths')
    const isApart =
      smoothing.x + smoothing.width <= downloads.x ||
      smoothing.y + smoothing.height <= downloads.y ||
      downloads.bottom <= smoothing.y
    expect(isApart, `${width}`).toBe(true)
  }
})

test('in a narrow window what Train takes is said whole, and what came of it has the width', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1000, height: 800 })
  await lab.open(LINK.replace('phases.2.steps=40', 'phases.2.steps=2'))
  await lab.waitForStatus('idle')
  const planned = lab.get('planned-bytes')
  await expect(planned).toContainText('of GPU memory')
  const hidden = await planned.evaluate((p) => p.scrollHeight - p.clientHeight)
  expect(hidden).toBeLessThanOrEqual(0)
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  const answers = await box(lab, '.end-answers')
  const says = await box(lab, '.end-says')
  expect(says.y).toBeGreaterThanOrEqual(answers.bottom)
  expect(says.x).toBe(answers.x)
})

test('a way out of a wrong value is said whole in the width of the settings', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  await lab.waitForStatus('idle')
  await page.locator('#field-model-num_hidden_layers').fill('4')
  const problem = page.locator('.problem', { hasText: 'begin from random weights' })
  await expect(problem).toBeVisible()
  // The field that it is of has a border in its colour.
  const red = await problem.evaluate((p) => getComputedStyle(p).color)
  await expect(page.locator('#settings-body input[aria-invalid=true]').first()).toHaveCSS(
    'border-top-color',
    red,
  )
  expect(await problem.evaluate((p) => p.scrollWidth - p.clientWidth)).toBeLessThanOrEqual(0)
})

test('why Train is off moves nothing when it is said', async ({ lab, page }) => {
  for (const width of [1440, 1000]) {
    await page.setViewportSize({ width, height: 900 })
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await page.locator('#field-rollout-n').fill('1')
    await expect(lab.get('wrong-fields')).toBeInViewport({ ratio: 1 })
    // Of two every line is whole.
    await page.locator('#field-actor-optim-lr').first().fill('')
    const wrong = lab.get('wrong-fields')
    await expect(wrong).toHaveText(/^2 settings are wrong: .+, .+\.$/)
    expect(await wrong.evaluate((p) => p.scrollHeight - p.clientHeight)).toBeLessThanOrEqual(0)
    // Compared with what comes after: a notice may arrive while a page opens.
    const { y } = await box(lab, '.forest')
    await page.locator('#field-actor-optim-lr').first().fill('0.001')
    await page.locator('#field-rollout-n').fill('4')
    await expect(wrong).toBeHidden()
    expect((await box(lab, '.forest')).y).toBe(y)
    if (width >= 1280) continue
    // What lies over the page can be put away where it is.
    await page.locator('#field-rollout-n').fill('1')
    await lab.get('keep-values').click()
    await expect(wrong).toBeHidden()
    await expect(page.locator('#field-rollout-n')).toHaveValue('4')
  }
})

test('an open model begins with what one types, and a wrong number moves nothing', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open()
  await lab.waitForStatus('idle')
  await page.locator('.settings.closed button').click()
  await lab.get('open-model').click()
  await lab.get('open-shipped-sorter').click()
  await expect(lab.get('chat-text')).toBeInViewport({ ratio: 1 })
  const typed = await box(lab, '[data-testid=chat-text]')
  for (const below of ['model-facts', 'models-shipped'])
    expect((await box(lab, `[data-testid=${below}]`)).y).toBeGreaterThan(typed.bottom)
  // One press types a problem of what it learned.
  await lab.get('chat-form').getByRole('button').last().click()
  await expect(lab.get('chat-text')).toHaveValue(/^\d{3}>$/)
  await unfoldWriting(lab)
  const before = await box(lab, '[data-testid=model-train]')
  await lab.get('chat-temperature').fill('9')
  await expect(page.locator('.chat-settings [role=alert]')).toContainText('temperature: expected')
  expect((await box(lab, '[data-testid=model-train]')).y).toBe(before.y)
  // Of two wrong numbers the last one is said, and the number from before comes back.
  const tokens = await lab.get('chat-max_tokens').inputValue()
  await lab.get('chat-max_tokens').selectText()
  await lab.get('chat-max_tokens').pressSequentially('9999')
  await lab.get('chat-max_tokens').blur()
  await expect(page.locator('.chat-settings [role=alert]')).toHaveText(
    `tokens at most: expected a number from 1 to 512; it stays ${tokens}`,
  )
  await expect(lab.get('chat-max_tokens')).toHaveValue(tokens)
  await expect(lab.get('chat-temperature')).toHaveValue('0')
  // What greedy takes away comes back without it.
  await lab.get('chat-temperature').fill('0.7')
  await lab.get('chat-greedy').check()
  await expect(lab.get('chat-temperature')).toHaveValue('0')
  await lab.get('chat-greedy').uncheck()
  await expect(lab.get('chat-temperature')).toHaveValue('0.7')
})

test('each arm that can be drawn is one line: box, line and name', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open('', './#tab=study')
  await lab.show('study')
  await lab.get('study-gallery-layers_addition').getByRole('button').first().click()
  const arms = lab.get('study-arm-choice').locator('label')
  await expect(arms.first()).toBeVisible()
  for (const arm of await arms.all()) {
    const middles = await arm.evaluate((label) =>
      [...label.children].map((part) => {
        const { top, bottom } = part.getBoundingClientRect()
        return (top + bottom) / 2
      }),
    )
    for (const middle of middles) expect(Math.abs(middle - middles[0])).toBeLessThanOrEqual(3)
  }
})

test(
  'in every frame of a run the forest, the numbers and the line of steps are of one step',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStep(10)
    const apart = await page.evaluate(
      () =>
        new Promise<string[]>((done) => {
          const seen = new Set<string>()
          const end = performance.now() + 8000
          const text = (id: string) =>
            document.querySelector(`[data-testid="${id}"]`)?.textContent?.trim() ?? ''
          const look = () => {
            const forest = document.querySelector<HTMLElement>('[data-testid=forest]')
            const steps = [
              forest?.dataset.step,
              text('step-count'),
              /\d+/.exec(text('scrub-step'))?.[0],
            ]
            const entropy = Number.parseFloat(text('entropy-value')).toFixed(2)
            const label = document.querySelector<HTMLElement>('.forest-labels li span')?.innerText
            if (new Set(steps).size > 1) seen.add(steps.join(', '))
            else if (label && Math.abs(Number(/[\d.]+/.exec(label)?.[0]) - Number(entropy)) > 0.011)
              seen.add(`${label}, ${entropy}`)
            if (performance.now() < end) requestAnimationFrame(look)
            else done([...seen])
          }
          look()
        }),
    )
    expect(apart).toEqual([])
  },
)

test('on a phone a chosen phase has its tools below the line, and a run says what is not measured yet', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  // The line is not glued to the edge of its card.
  const edge = (await box(lab, '.work')).y
  expect((await box(lab, '.phase-track')).y).toBeGreaterThanOrEqual(edge + 8)
  const phase = page.locator('.phase-segment').last()
  const tools = page.locator('.timeline-chosen')
  for (const state of ['at rest', 'a run']) {
    if (state === 'a run') {
      await page.setViewportSize({ width: 390, height: 844 })
      // While it is prepared, which may be short, the place of its verdict says that nothing is
      // measured.
      const below = page.waitForFunction(() => {
        const says = document.querySelector('.forest.has-run .forest-source')
        const picture = document.querySelector('.forest-canvas')
        if (!says?.checkVisibility() || !picture) return undefined
        return `${says.getBoundingClientRect().y - picture.getBoundingClientRect().bottom}`
      })
      await lab.get('train').click()
      expect(Number(await (await below).jsonValue())).toBeGreaterThanOrEqual(0)
      await lab.waitForStep(4)
    }
    for (const [width, height] of [
      [390, 844],
      [768, 1024],
    ]) {
      const where = `${state}, ${width}`
      await page.setViewportSize({ width, height })
      await phase.press('Enter')
      await expect(tools, where).toBeVisible()
      await expect.poll(() => cutOff(page), where).toEqual([])
      expect((await box(lab, '.phases')).width, where).toBeGreaterThan(0.5 * width)
      // Three places are measured while what is above them may still settle.
      const areApart = async () => {
        const own = await box(lab, '.timeline-tools')
        const isBelow = own.y >= (await box(lab, '.phases')).bottom
        return isBelow && own.bottom <= (await box(lab, '.tabs')).y
      }
      await expect.poll(areApart, where).toBe(true)
      await page.keyboard.press('Escape')
      await expect(tools, where).toBeHidden()
      await expect(phase, where).toBeFocused()
      await phase.press('Enter')
      await page.locator('.timeline-close button').click()
      await expect(tools, where).toBeHidden()
    }
  }
  // One that is left on its way would be offered to the next visitor.
  await lab.waitForStatus('finished')
})
