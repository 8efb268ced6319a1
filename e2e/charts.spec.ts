// Charts do what people expect of charts: hide and solo, zoom, logarithmic axes, smoothing, full
// screen, files, numbers.
import { readFileSync } from 'node:fs'
import type { Locator, Page } from '@playwright/test'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const STEPS = 40
const LINK =
  `v=1&p=tiny&phases.0.steps=20&phases.1.steps=4&phases.2.steps=16&seed=3${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.n=2' +
  // A critic, so that its charts have something to show.
  '&phases.2.adv_estimator=gae'
const MORE_PLOTS = [
  'policy-loss',
  'critic-loss',
  'explained-variance',
  'values',
  'advantages',
  'returns',
  'best-of-n',
  'majority-of-n',
  'stage-times',
].map((name) => `${name}-chart`)
const PLOTS = ['reward-chart', 'entropy-chart', 'heatmap-plot', 'kl-chart']

async function train(lab: LabPage): Promise<void> {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStatus('finished', 300_000)
}

const legend = (lab: LabPage, chart: string, label: string): Locator =>
  lab.get(`${chart}-card`).locator('.legend button[aria-pressed]', { hasText: label })

async function expectSteps(lab: LabPage, steps: string): Promise<void> {
  for (const plot of PLOTS) await expect(lab.get(plot)).toHaveAttribute('data-steps', steps)
}

/** Drags over shares of a plot's width. */
async function drag(page: Page, plot: Locator, from: number, to: number): Promise<void> {
  const area = plot.locator('.plot-area')
  await area.scrollIntoViewIfNeeded()
  const box = await area.boundingBox()
  if (!box) throw new Error('the plot is not there')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + from * box.width, y)
  await page.mouse.down()
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y)
  await page.mouse.move(box.x + to * box.width, y)
  await page.mouse.up()
}

/** How many pixels of a chart are drawn. */
const inked = (plot: Locator): Promise<number> =>
  plot.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
    const copy = document.createElement('canvas')
    copy.width = canvas.width
    copy.height = canvas.height
    const ctx = copy.getContext('2d', { willReadFrequently: true })
    ctx?.drawImage(canvas, 0, 0)
    const data = ctx?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
    let count = 0
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++
    return count
  })

async function download(lab: LabPage, chart: string, kind: string) {
  await lab.get(`${chart}-menu`).locator('summary').click()
  const coming = lab.page.waitForEvent('download')
  await lab.get(`${chart}-${kind}`).click()
  const file = await coming
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
}

test(
  'lines are hidden or shown alone, ranges zoom all charts, axes and lines change',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    // A range that was chosen stays while the run continues.
    await lab.waitForStep(6)
    await lab.get('zoom-last').fill('4')
    await expectSteps(lab, '0 4')
    await lab.waitForStatus('finished', 300_000)
    await expectSteps(lab, '0 4')
    await lab.get('zoom-reset').click()
    await expectSteps(lab, `0 ${STEPS}`)

    // Hide by click and by key, solo by Shift, with either, and by double click.
    const entropy = lab.get('entropy-chart')
    const layers = lab.get('entropy-chart-card').locator('.legend button[aria-pressed]')
    const pressed = () => layers.evaluateAll((all) => all.map((b) => b.ariaPressed).join(' '))
    await entropy.scrollIntoViewIfNeeded()
    const allInk = await inked(entropy)
    await legend(lab, 'entropy-chart', 'layer 2').click()
    expect(await pressed()).toBe('true true false true')
    await expect.poll(() => inked(entropy)).toBeLessThan(allInk)
    await legend(lab, 'entropy-chart', 'layer 2').press('Enter')
    expect(await pressed()).toBe('true true true true')
    await legend(lab, 'entropy-chart', 'layer 1').click({ modifiers: ['Shift'] })
    expect(await pressed()).toBe('false true false false')
    await legend(lab, 'entropy-chart', 'layer 1').dblclick()
    expect(await pressed()).toBe('true true true true')
    await legend(lab, 'entropy-chart', 'layer 2').press('Shift+Enter')
    expect(await pressed()).toBe('false false true false')
    await legend(lab, 'entropy-chart', 'layer 2').press('Shift+Enter')
    expect(await pressed()).toBe('true true true true')

    // Zoom: by dragging, by two sliders, and back by double click.
    // The axis is even: the warm start has half of the width.
    const tools = '.work :is(.axis-tools, .timeline-tools) > *'
    const bars = () =>
      page
        .locator(tools)
        .filter({ visible: true })
        .evaluateAll((all) =>
          all.flatMap((tool) => {
            const { x, width } = tool.getBoundingClientRect()
            return tool.matches('.zoom-reset') ? [] : [`${Math.round(x)} ${Math.round(width)}`]
          }),
        )
    const before = await bars()
    await drag(page, entropy, 0.25, 0.5)
    await expectSteps(lab, '10 20')
    expect(await bars()).toEqual(before)
    await expect(lab.get('zoom-range')).toHaveText('Charts show 10–20')
    await lab.get('zoom-first').press('ArrowRight')
    await expectSteps(lab, '11 20')
    await lab.get('zoom-last').press('ArrowLeft')
    await expectSteps(lab, '11 19')
    await lab.get('reward-chart').locator('.plot-area').dblclick()
    await expectSteps(lab, `0 ${STEPS}`)
    // Phases of equal width: the warm start has a third, and the axis is marked where its scale
    // changes.
    const breaks = lab.get('reward-chart').locator('.axis-break')
    await expect(breaks).toHaveCount(0)
    await lab.get('equal-phases').click()
    await expect(breaks).toHaveCount(2)
    await expect(lab.get('reward-chart-equal-phases')).toContainText('same width')
    await drag(page, entropy, 1 / 6, 1 / 3)
    await expectSteps(lab, '10 20')
    await lab.get('zoom-all').click()
    await lab.get('equal-phases').click()
    await expectSteps(lab, `0 ${STEPS}`)
    // The wheel scrolls the page and leaves the charts alone.
    await entropy.hover()
    await page.mouse.wheel(0, 200)
    await expectSteps(lab, `0 ${STEPS}`)

    // Logarithmic axes, which say what they cannot show.
    await lab.get('reward-chart-menu').locator('summary').click()
    await lab.get('reward-chart-logY').check()
    await expect(lab.get('reward-chart-left-out')).toContainText('at or below 0')
    await lab.get('reward-chart-logX').check()
    await expect(lab.get('reward-chart')).toHaveAttribute('data-steps', `1 ${STEPS}`)
    await expect(lab.get('reward-chart-left-out')).toContainText('Step 0')
    await expect(lab.get('entropy-chart')).toHaveAttribute('data-steps', `0 ${STEPS}`)
    await expect(lab.get('reward-chart').locator('.recharts-xAxis-tick-labels')).toContainText(
      '1251020',
    )
    await page.keyboard.press('Escape')
    await expect(lab.get('reward-chart-logY')).toBeHidden()

    // Further charts: of what this run has measured, and of nothing else.
    const more = lab.get('more-charts')
    await expect(more.locator('summary').first()).toHaveText(/More charts \d+/)
    await more.locator('summary').first().click()
    for (const chart of MORE_PLOTS) {
      await lab.get(`${chart}-card`).scrollIntoViewIfNeeded()
      await expect.poll(() => inked(lab.get(chart)), { message: chart }).toBeGreaterThan(0)
    }
    await expect(lab.get('loss-kl-chart-card')).toHaveCount(0)
    // Where healthy values lie, as a band and in words.
    const clipped = lab.get('clip-fraction-chart-card')
    await clipped.scrollIntoViewIfNeeded()
    await expect(clipped.locator('.ideal')).toContainText('Ideal: below 20')
    await expect(clipped.locator('.ideal-band path')).toHaveAttribute('fill', 'var(--ideal)')
    await expect(page.locator('#clip-fraction-chart-summary')).toContainText('within it')

    // Samples show the answers to held-out problems too, greedy and sampled.
    await page.getByText('Held-out', { exact: true }).click()
    const answers = lab.get('held-out')
    await expect(answers.locator('caption')).toContainText(`Step ${STEPS}`)
    for (const decoding of ['greedy', 'sampled'])
      await expect(answers.getByRole('cell', { name: decoding })).toHaveCount(8)

    // Smoothing: off, then beside what was measured where the line lies.
    await expect(lab.get('smoothing-value')).toHaveText('as needed')
    const value = legend(lab, 'entropy-chart', 'final')
    await expect(value).not.toContainText('fit ')
    await lab.get('smoothing').fill('0.4')
    await expect(lab.get('smoothing-value')).toHaveText('0.698')
    await expect(value).toContainText('fit ')
    await page.reload()
    await lab.show('runs')
    await lab.get('open-run').first().click()
    await lab.show('learn')
    await expect(lab.get('smoothing-value')).toHaveText('0.698')
  },
)

test(
  'a chart comes down as numbers and as pictures, and fills the screen',
  LONG_ONLY,
  async ({ lab, page }) => {
    await train(lab)
    const steps = await lab.steps()
    await legend(lab, 'entropy-chart', 'layer 1').click()
    await drag(page, lab.get('entropy-chart'), 0.24, 0.51)
    const shown = steps.filter(({ step }) => step >= 10 && step <= 20)
    const names = [0, 2, 3].map((layer) => `layer/entropy/${layer}`)

    const csv = await download(lab, 'entropy-chart', 'csv')
    expect(csv.name).toMatch(/^bupo-.*-seed-3\.entropy\.csv$/)
    const [head, ...rows] = csv.bytes.toString().trimEnd().split('\n')
    expect(head).toBe(['step', ...names].join())
    expect(rows.map((row) => row.split(',').map(Number))).toEqual(
      shown.map(({ step, metrics }) => [step, ...names.map((name) => metrics[name])]),
    )
    const jsonl = await download(lab, 'kl-chart', 'jsonl')
    expect(jsonl.name).toMatch(/^bupo-.*-seed-3\.actor-ppo-kl\.jsonl$/)

    await lab.get('zoom-reset').click()
    const svg = (await download(lab, 'entropy-chart', 'svg')).bytes.toString()
    const parsed = await page.evaluate((text) => {
      const page = new DOMParser().parseFromString(text, 'image/svg+xml')
      const lines = [...page.querySelectorAll('g[clip-path="url(#plot)"] > path')]
      return {
        error: page.querySelector('parsererror')?.textContent,
        title: page.querySelector('title')?.textContent,
        points: lines.map((line) => line.getAttribute('d')?.match(/[ML]/g)?.length),
      }
    }, svg)
    // The untrained model has no entropies: step 0 is not measured.
    const measured = steps.filter(({ metrics }) => metrics['layer/entropy/0'] !== undefined).length
    expect(parsed).toEqual({
      error: undefined,
      title: 'Entropy of every layer’s policy',
      points: [measured, measured, measured],
    })
    expect(svg).not.toMatch(/var\(|href|url\((?!#)/)
    expect(svg).toContain('layer 2')

    const heat = await download(lab, 'heatmap-plot', 'csv')
    expect(heat.name).toMatch(/^bupo-.*-seed-3\.entropy-map\.csv$/)
    expect(heat.bytes.toString().split('\n')[0]).toBe(
      'step,layer/entropy/0,layer/entropy/1,layer/entropy/2,layer/entropy/3',
    )
    for (const chart of ['heatmap-plot', 'entropy-chart']) {
      const png = await download(lab, chart, 'png')
      const colours = await page.evaluate(async (base64) => {
        const image = new Image()
        image.src = `data:image/png;base64,${base64}`
        await image.decode()
        const canvas = document.createElement('canvas')
        canvas.width = image.width
        canvas.height = image.height
        const ctx = canvas.getContext('2d')
        ctx?.drawImage(image, 0, 0)
        const { data } = ctx?.getImageData(0, 0, image.width, image.height) ?? { data: [] }
        const seen = new Set<string>()
        for (let i = 0; i < data.length; i += 4) seen.add([...data.slice(i, i + 3)].join())
        return { width: image.width, count: seen.size }
      }, png.bytes.toString('base64'))
      const box = await lab.get(chart).locator('.plot-area').boundingBox()
      expect(colours.width).toBeGreaterThan(2 * (box?.width ?? 0))
      expect(colours.count, chart).toBeGreaterThan(20)
    }

    // Full screen, larger and with the same lines hidden; Escape leaves it.
    const small = await lab.get('entropy-chart').locator('canvas').boundingBox()
    await lab.get('entropy-chart-menu').locator('summary').click()
    await lab.get('entropy-chart-full-screen').click()
    const full = lab.get('entropy-chart-full').locator('canvas')
    await expect
      .poll(async () => (await full.boundingBox())?.height)
      .toBeGreaterThan(1.5 * (small?.height ?? Number.POSITIVE_INFINITY))
    await expect(legend(lab, 'entropy-chart-full', 'layer 1')).toHaveAttribute(
      'aria-pressed',
      'false',
    )
    await page.keyboard.press('Escape')
    await expect(lab.get('full-chart')).toHaveCount(0)

    // For people who do not see it: a name, a description and the numbers.
    const plot = lab.get('entropy-chart')
    await expect(plot).toHaveAccessibleName('Entropy of every layer’s policy')
    await expect(plot).toHaveAccessibleDescription(/final policy: [\d.]+, between/)
    await lab.get('entropy-chart-numbers').locator('summary').click()
    const table = lab.get('entropy-chart-numbers').getByRole('table')
    await expect(table.getByRole('row')).toHaveCount(measured + 1)
    await expect(table.getByRole('rowheader').first()).toHaveText(String(STEPS))
  },
)

test('sentences leave the plot below them where it is, however many lines they come to', async ({
  lab,
  page,
}) => {
  await lab.open()
  await expect(lab.get('reward-chart-says')).toBeAttached()
  for (const [width, height, first, other] of [
    [1440, 900, 3, 3],
    [720, 900, 2, 2],
    [600, 900, 3, 3],
    [390, 844, 4, 3],
    [320, 640, 5, 4],
  ]) {
    await page.setViewportSize({ width, height })
    for (const [chart, most] of [
      ['reward', first],
      ['entropy', other],
    ] as const) {
      const tops = await lab.get(`${chart}-chart-says`).evaluate((words, most) => {
        const card = words.closest('figure') as HTMLElement
        const plot = card.querySelector('.plot') as HTMLElement
        const line = Number.parseFloat(getComputedStyle(words).lineHeight)
        const note = card.querySelector('.chart-says ~ p') as HTMLElement
        const found = new Map<number, string>()
        for (let count = 0; ; count++) {
          words.textContent = 'It rose. '.repeat(count)
          const lines = Math.round(words.getBoundingClientRect().height / line)
          if (lines > most) return [...found]
          const [from, ...tops] = [card, plot, note].map((it) => it.getBoundingClientRect().top)
          found.set(lines, tops.map((top) => Math.round(top - from)).join())
        }
      }, most)
      const where = `${chart}, ${width} × ${height}`
      expect(tops.length, where).toBe(most + 1)
      expect(new Set(tops.map(([, top]) => top)).size, where).toBe(1)
    }
  }
})

test('a small chart’s value never meets its title, and numbers unfold beside plots that stay', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  const cards = page.locator('.small-charts .card.chart')
  await expect(cards.first()).toBeVisible()
  // As narrow as beside an open lesson, and with as long a value as there is.
  await page.evaluate(() => {
    for (const value of document.querySelectorAll('.small-charts .value'))
      value.textContent = '−0.00123, fit −0.00123'
  })
  for (const width of [1440, 700]) {
    await page.setViewportSize({ width, height: 900 })
    const lines = await cards.evaluateAll((cards) =>
      cards.map((card) => {
        const [title, value] = ['h2', '.value'].map((of) => card.querySelector(of) as HTMLElement)
        const line = Number.parseFloat(getComputedStyle(title).lineHeight)
        return [title, value].map((it) => Math.round(it.getBoundingClientRect().height / line))
      }),
    )
    for (const [title, value] of lines) expect([title, value], `${width}`).toEqual([1, 1])
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  const heights = () =>
    page.locator('.small-charts .plot').evaluateAll((plots) => plots.map((it) => it.clientHeight))
  const before = await heights()
  await cards.first().locator('.chart-numbers summary').click()
  await expect(cards.first().locator('.chart-numbers table')).toBeVisible()
  for (const [i, height] of (await heights()).entries())
    expect(height).toBeLessThanOrEqual(before[i])
  // A press on the words of a box leaves its menu open, and ticks it.
  await lab.get('reward-chart-menu').locator('summary').click()
  await lab.get('reward-chart-menu').getByText('Logarithmic values').click()
  await expect(lab.get('reward-chart-logY')).toBeChecked()
})
