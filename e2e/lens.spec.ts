// The layer lens: its grid shows what the worker sent, cell by cell, and goes from cell to cell by
// keyboard.
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { type PlainLens, plainLens } from '../src/ui/tokens/lens/testing.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

declare global {
  interface Window {
    labWorker: Worker
  }
}

/** Lets a test speak in the worker's place. To be called before the page is opened. */
const catchWorker = (page: Page) =>
  page.addInitScript(() => {
    const Native = window.Worker
    window.Worker = class extends Native {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args)
        window.labWorker = this
      }
    }
  })

const observe = (page: Page, step: number, lenses: readonly PlainLens[]) =>
  page.evaluate(
    ({ step, lenses }) => {
      const typed = (readout: PlainLens['raw']) => ({
        ...readout,
        entropy: Float32Array.from(readout.entropy),
        top_probs: Float32Array.from(readout.top_probs),
        next_prob: Float32Array.from(readout.next_prob),
      })
      const observation = {
        num_hidden_layers: 3,
        tokens: 0,
        mean: {},
        std: {},
        layer: 0,
        cost_ms: { lens: 12.5 },
        lenses: lenses.map((lens) => ({
          ...lens,
          raw: typed(lens.raw),
          normed: typed(lens.normed),
        })),
      }
      const data = { type: 'observed', run: 0, step, observation }
      window.labWorker.dispatchEvent(new MessageEvent('message', { data }))
    },
    { step, lenses },
  )

const LAYERS = 4
const lens = (skill: number) => plainLens('321>', '123', { skill, layers: LAYERS })
const other = plainLens('94>', '49', { skill: 0.7, layers: LAYERS })
const [early, late] = [lens(0.2), lens(1)]

async function openLens(lab: LabPage, page: Page): Promise<void> {
  await catchWorker(page)
  await lab.open(`v=1&p=tiny${QUICK}`)
  await lab.waitForStatus('idle')
  await lab.get('tab-inside').click()
  await expect(lab.get('lens')).toContainText('appears with the first step that is observed')
  await observe(page, 0, [early, other])
  await observe(page, 40, [late, other])
}

/** The last layer is the final policy, which reads through the final norm. */
const readoutOf = (lens: PlainLens, layer: number) =>
  layer === LAYERS - 1 ? lens.normed : lens.raw

/** Of the made-up lens: position s, layer l. */
const at = (l: number, s: number) => s * LAYERS + l
const cell = (lab: LabPage, grid: string, l: number, s: number) =>
  lab.get(grid).locator(`[data-cell="${l}/${s}"]`)

test('every cell shows its layer’s likeliest token and probability, and in full what the worker sent', async ({
  lab,
  page,
}) => {
  await openLens(lab, page)
  const grid = lab.get('lens-grid')
  await expect(lab.get('lens-summary')).toHaveAttribute('data-step', '40')
  await expect(lab.get('lens-says')).toContainText('The model names 4 of 4 response tokens')
  await expect(lab.get('lens-cost')).toHaveAttribute('data-value', '12.5')
  await expect(grid.locator('tbody tr')).toHaveCount(LAYERS)
  await expect(grid.locator('tbody tr').first().getByRole('rowheader')).toHaveText('final')
  await expect(grid.locator('tbody td')).toHaveCount(LAYERS * late.tokens.length)
  const sign = (token: string) => (token === '<eos>' ? '∎' : token)
  for (let l = 0; l < LAYERS; l++)
    for (let s = 0; s < late.tokens.length; s++) {
      const { top, top_probs } = readoutOf(late, l)
      const expected = `${sign(top[at(l, s) * 5])}${Math.round(100 * top_probs[at(l, s) * 5])}`
      expect((await cell(lab, 'lens-grid', l, s).innerText()).replace(/\s/g, '')).toBe(expected)
    }

  // A short text leaves room for the cell beside it.
  const [gridBox, detailBox] = [
    await grid.boundingBox(),
    await lab.get('lens-detail').boundingBox(),
  ]
  if (!gridBox || !detailBox) throw new Error('the lens is not drawn')
  expect(detailBox.x).toBeGreaterThan(gridBox.x + gridBox.width)

  // The focus begins where the response does; arrow keys move it, and the full numbers follow.
  await cell(lab, 'lens-grid', 3, 3).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await expect(cell(lab, 'lens-grid', 2, 4)).toBeFocused()
  await expect(lab.get('lens-detail')).toContainText('What layer 2 says at position 5 of 8')
  const shown = async (id: string) => Number(await lab.get(id).getAttribute('data-value'))
  expect(await shown('lens-top-entropy')).toBe(Math.fround(late.raw.entropy[at(2, 4)]))
  expect(await shown('lens-top-next')).toBe(Math.fround(late.raw.next_prob[at(2, 4)]))
  const bars = lab.get('lens-top').locator('[data-value]')
  await expect(bars).toHaveCount(5)
  for (let k = 0; k < 5; k++)
    expect(Number(await bars.nth(k).getAttribute('data-value'))).toBe(
      Math.fround(late.raw.top_probs[at(2, 4) * 5 + k]),
    )
  await page.keyboard.press('End')
  await expect(lab.get('lens-top-next')).toHaveText('–')
  await expect(grid.locator('[tabindex="0"]')).toHaveCount(1)

  // The pointer shows a cell without moving the cursor.
  await cell(lab, 'lens-grid', 1, 0).hover()
  await expect(lab.get('lens-detail')).toContainText('What layer 1 says at position 1 of 8')
  await lab.get('lens-summary').hover()
  await expect(lab.get('lens-detail')).toContainText('What layer 2 says at position 8 of 8')

  // Another text.
  await lab.get('lens-text').selectOption({ label: '94> 49' })
  await expect(grid.locator('tbody td')).toHaveCount(LAYERS * other.tokens.length)
})

test(
  'two steps are shown side by side, or as a difference; normed greys the embedding',
  LONG_ONLY,
  async ({ lab, page }) => {
    await openLens(lab, page)
    await lab.get('lens-compare').selectOption('beside')
    await expect(lab.get('lens-other')).toHaveValue('0')
    await expect(lab.get('lens-grid-other')).toContainText('Step 0')
    await expect(cell(lab, 'lens-grid-other', 3, 3)).toContainText(
      `${Math.round(100 * readoutOf(early, 3).top_probs[at(3, 3) * 5])}`,
    )
    await cell(lab, 'lens-grid', 3, 3).click()
    await expect(lab.get('lens-top-other')).toBeVisible()
    const change =
      Math.fround(readoutOf(late, 3).next_prob[at(3, 3)]) -
      Math.fround(readoutOf(early, 3).next_prob[at(3, 3)])
    await expect(lab.get('lens-change')).toHaveAttribute('data-value', `${change}`)

    await lab.get('lens-compare').selectOption('difference')
    await expect(lab.get('lens-grid-other')).toHaveCount(0)
    await expect(cell(lab, 'lens-grid', 3, 3)).toContainText(`+${Math.round(100 * change)}`)
    await expect(cell(lab, 'lens-grid', 3, 3)).toHaveClass(/div-10/)
    await expect(cell(lab, 'lens-grid', 0, 3)).toHaveClass(/div-5/)
    await expect(cell(lab, 'lens-grid', 0, 7)).toContainText('–')
    await lab.get('lens-other').selectOption('40')
    await expect(cell(lab, 'lens-grid', 3, 3)).toHaveClass(/div-5/)

    await lab.get('lens-compare').selectOption('alone')
    await lab.get('lens-normed').check()
    await expect(cell(lab, 'lens-grid', 0, 3)).toHaveClass(/greyed/)
    await expect(cell(lab, 'lens-grid', 1, 3)).toHaveClass(/seq-/)
    const { violations } = await new AxeBuilder({ page }).include('[data-testid=lens]').analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  },
)

test(
  'on a phone the grid scrolls inside its panel and keeps its layers in sight',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await openLens(lab, page)
    const grid = lab.get('lens-grid')
    await expect(grid).toBeVisible()
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    await cell(lab, 'lens-grid', 3, 7).focus()
    const head = grid.getByRole('rowheader', { name: 'final' })
    await expect(head).toBeInViewport()
  },
)

test(
  'a response of a real run is looked through, and its layers’ entropies colour its tokens',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(
      `v=1&p=tiny&phases.0.steps=4&phases.1.steps=1&phases.2.steps=5000&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.test_freq=0${QUICK}`,
    )
    await lab.waitForStatus('idle')
    await lab.get('tab-tokens').click()
    await lab.get('train').click()
    // Steps are traced while the inspector is seen.
    await expect(lab.get('token-numbers')).toBeVisible({ timeout: 200_000 })
    const inspector = lab.get('inspector')
    await inspector.locator('[data-t]').first().click()
    const told = inspector.locator('li.here')
    const place = await told.getAttribute('data-place')
    await lab.get('look-through').click()
    await expect(lab.get('tab-inside')).toHaveAttribute('aria-selected', 'true')
    await expect(lab.get('lens-grid')).toBeVisible({ timeout: 200_000 })
    await lab.get('pause').click()
    await lab.waitForStatus('paused')

    /** The lens of a step on the sent text, as the worker sent it. */
    const sent = (step: number) =>
      page.evaluate((step) => {
        const event = window.labEvents.findLast(
          (event) => event.type === 'observed' && event.step === step,
        )
        if (event?.type !== 'observed') throw new Error(`the worker sent nothing of step ${step}`)
        const lens = event.observation.lenses.find(({ is_held_out }) => !is_held_out)
        if (!lens) throw new Error(`step ${step} did not look at the sent text`)
        const { tokens, raw, normed, prompt_length } = lens
        return {
          tokens: [...tokens],
          prompt_length,
          top: [...raw.top],
          last: [...normed.top],
          entropy: [...raw.entropy],
        }
      }, step)
    const signs = { '<eos>': '∎', '<pad>': '∅' } as Record<string, string>
    // What arrives last is drawn within half a second.
    await expect(async () => {
      const shown = Number(await lab.get('lens-summary').getAttribute('data-step'))
      const { tokens, top, last, entropy } = await sent(shown)
      const L = entropy.length / tokens.length
      const expected = Array.from({ length: L }, (_, i) => L - 1 - i).flatMap((layer) =>
        tokens.map((_, s) => (layer === L - 1 ? last : top)[(s * L + layer) * 5]),
      )
      const cells = await lab.get('lens-grid').locator('tbody td b').allInnerTexts()
      expect(cells).toEqual(expected.map((token) => signs[token] ?? token))
    }).toPass({ timeout: 20_000 })

    // Back among the tokens, which have stayed: layer 1 where the first token was written.
    await lab.get('tab-tokens').click()
    await lab.get('colour-mode').selectOption('layer_entropy')
    await lab.get('colour-layer').selectOption('1')
    await expect(lab.get('colour-legend')).toBeVisible()
    await inspector.locator(`li[data-place="${place}"] [data-t="0"]`).click()
    await expect(async () => {
      const text = await lab.get('readout').innerText()
      const { tokens, entropy, prompt_length } = await sent(
        Number(/weights after step (\d+)/.exec(text)?.[1]),
      )
      const L = entropy.length / tokens.length
      const expected = entropy[(prompt_length - 1) * L + 1].toFixed(3)
      expect(text).toContain(`Entropy of layer 1, raw state: ${expected} nats`)
    }).toPass({ timeout: 20_000 })
  },
)
