// The figures of the inside: what they draw of observed steps, and what is measured for them.
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import type { Observation } from '../src/host/protocol/observation.ts'
import type { LabEvent } from '../src/host/protocol/protocol.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

declare global {
  interface Window {
    /** What tests speak in the name of. */
    labWorker: Worker
  }
}

const L = 3
const states = (first: number, last: number) =>
  Array.from({ length: L + 1 }, (_, l) => first + ((last - first) * l) / L)
const blocks = (first: number, last: number) => states(first, last).slice(1)

/** An observation whose numbers tell the step. */
function made(step: number): Observation {
  const shift = step / 100
  return {
    ...({ rows: 'responses' } as const),
    num_hidden_layers: L,
    tokens: 64,
    layer: 2,
    lenses: [],
    cost_ms: { flow: 2.5, entropy: 1.5, cosines: 0.5, similarity: 4 },
    std: { dH_attn: blocks(0.5, 0.5), dH_ffn: blocks(0.25, 0.25), dH_layer: blocks(0.1, 0.1) },
    mean: {
      ent_layer_raw: states(3, 0.6 + shift),
      ent_layer_norm: states(1.2, 0.5 + shift),
      ent_attn_in: blocks(2, 1),
      ent_attn_out: blocks(3, 2.5),
      ent_ffn_in: blocks(2, 1.5),
      ent_ffn_out: blocks(2.5, 1),
      dH_layer: blocks(-0.5, -0.8 + shift),
      dH_attn: blocks(1, 1.5),
      dH_ffn: blocks(0.5, -0.5),
      norm_hidden: states(1, 10),
      norm_attn_out: blocks(0.5, 2),
      norm_ffn_out: blocks(0.6, 3),
      cos_attn: blocks(-0.2, 0.4 + shift),
      cos_ffn: blocks(0.3, -0.3),
      cos_hidden: Array.from({ length: (L + 1) ** 2 }, (_, i) =>
        Math.floor(i / (L + 1)) === i % (L + 1) ? 1 : 0.5 + shift,
      ),
      kl_of_layer: [2, 1, 0, 1 + shift],
      kl_layer_final: [3, 2, 1, 0.1],
      logp_next_layer_norm: states(-3, -Math.log(2)),
    },
  }
}

/** Speaks as the worker of the run that is shown. */
const send = (page: Page, events: readonly LabEvent[]) =>
  page.evaluate((all) => {
    for (const data of all) window.labWorker.dispatchEvent(new MessageEvent('message', { data }))
  }, events)

/** Opens the tab with a worker that tests can speak for. */
async function openInside(lab: LabPage, page: Page, link: string): Promise<void> {
  await page.addInitScript(() => {
    const Native = window.Worker
    window.Worker = class extends Native {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args)
        window.labWorker = this
      }
    }
  })
  await lab.open(`${link}#tab=inside`)
  await lab.waitForStatus('idle')
}

test('figures say what to do, then draw the newest observed step', async ({ lab, page }) => {
  await openInside(lab, page, `v=1&p=tiny${QUICK}`)
  await expect(lab.get('inside-train')).toBeEnabled()
  await expect(lab.get('flow-step')).toHaveText('Nothing was observed yet.')
  await expect(lab.get('pass-step')).toContainText('No pass@k was measured')

  const step = (n: number): LabEvent => ({
    type: 'step',
    run: 0,
    step: n,
    phase: 0,
    phase_step: n,
    metrics: {
      'layer/entropy/0': 3,
      'layer/entropy/3': 0.5,
      'val-aux/sort_digits/pass@1/mean': 0.25,
      'val-aux/sort_digits/pass@4/mean': 0.5,
    },
  })
  await send(page, [
    { type: 'phase', run: 0, step: 0, phase: 0, reason: 'start' },
    step(0),
    { type: 'observed', run: 0, step: 0, observation: made(0) },
    step(10),
    { type: 'observed', run: 0, step: 10, observation: made(10) },
  ])
  for (const id of ['flow', 'delta', 'cosine', 'target', 'heat']) {
    await lab.get(id).scrollIntoViewIfNeeded()
    await expect(lab.get(id)).toHaveAttribute('data-step', '10')
    // The raw policies are metrics of every step.
    const which = id === 'heat' ? 'Raw states: every step. Normed states and writes: ' : ''
    await expect(lab.get(`${id}-step`)).toHaveText(
      `${which}Step 10, the newest observed. Means over 64 tokens.`,
    )
    await expect(lab.get(`${id}-reads`)).toContainText('response tokens in the training batch')
  }
  await expect(lab.get('flow-step')).toHaveAttribute('title', /4 ms \(flow 2\.5, entropy 1\.5\)/)
  await expect(lab.get('delta-step')).toHaveAttribute('title', /2\.5 ms/)

  // One layer is read on every figure; arrow keys move it.
  const flow = lab.get('flow-raw-value')
  await expect(flow).toHaveText(/^Layer 3: .*output 0\.7 nats$/)
  await flow.focus()
  await page.keyboard.press('Home')
  await expect(flow).toHaveText(/^Layer 1: input 3, attention 2\.83,/)
  await expect(lab.get('cosines-value')).toContainText('Layer 1:')
  await expect(lab.get('delta-attention-value')).toHaveText('Layer 1: +1.17 ± 0.5 nats')
  await page.keyboard.press('Escape')
  await expect(lab.get('cosines-value')).toContainText('Layer 3: attention 0.5')

  // States without norm, through it, or both.
  await expect(lab.get('flow-normed-chart')).toBeVisible()
  await lab.get('flow').getByText('raw state', { exact: true }).click()
  await expect(lab.get('flow-normed-chart')).toHaveCount(0)

  // Perplexity is of the last entry; divergence of steps that were measured from the chosen layer.
  await lab.get('target').scrollIntoViewIfNeeded()
  await expect(lab.get('perplexity-value')).toHaveText('Step 10. perplexity: 2')
  await lab.get('target-layer').selectOption('2')
  await expect(lab.get('divergence-value')).toContainText('final policy: 1.1')
  await lab.get('target-layer').selectOption('1')
  await expect(lab.get('target-other')).toContainText('measured from layer 2')

  // Numbers for those who do not see the pictures.
  await lab.get('heat-numbers').locator('summary').click()
  await expect(lab.get('heat-numbers').locator('tbody tr')).toHaveCount(L + 1)
  await lab.get('pass').scrollIntoViewIfNeeded()
  await expect(lab.get('pass-value')).toHaveText('k = 4: first 50.0 %, now 50.0 %')

  // Figures over steps have the axes, the zoom and the files of every chart.
  await lab.get('perplexity-chart-menu').locator('summary').click()
  await lab.get('perplexity-chart-logX').check()
  await expect(lab.get('perplexity-chart')).toHaveAttribute('data-steps', /^1 /)
  await expect(lab.get('divergence-chart')).toHaveAttribute('data-steps', /^0 /)
  await expect(lab.get('perplexity-chart-left-out')).toContainText('Step 0')
  await lab.get('perplexity-chart-full-screen').click()
  await expect(lab.get('full-chart').locator('canvas')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(lab.get('full-chart')).toHaveCount(0)
  await lab.get('zoom-last').fill('6')
  for (const id of ['divergence', 'heat-raw', 'final-entropy'])
    await expect(lab.get(`${id}-chart`)).toHaveAttribute('data-steps', '0 6')
  await lab.get('zoom-reset').click()

  // A figure fills the screen with larger pictures, and comes back to its place.
  const height = () => lab.get('cosines-chart').evaluate((svg) => svg.clientHeight)
  const small = await height()
  await lab.get('cosine-full-screen').click()
  await expect.poll(height).toBeGreaterThan(1.3 * small)
  await expect(lab.get('full-figure').getByRole('heading').first()).toHaveText(
    'Do writes add, turn or take away?',
  )
  await expect(lab.get('cosines-value')).toContainText('Layer 3:')
  await page.keyboard.press('Escape')
  await expect(lab.get('full-figure')).toHaveCount(0)
  await expect.poll(height).toBe(small)

  // Every figure comes down as numbers and as a picture.
  const saved = async (id: string): Promise<Buffer> => {
    const coming = page.waitForEvent('download')
    await lab.get(id).click()
    return readFile(await (await coming).path())
  }
  const csv = (await saved('delta-numbers-csv')).toString()
  expect(csv.split('\n')).toHaveLength(L + 2)
  expect(csv).toContain('1.17')
  const rows = (await saved('delta-numbers-jsonl')).toString().trim().split('\n')
  expect(rows.map((row) => JSON.parse(row))).toHaveLength(L)
  const drawing = (await saved('delta-numbers-svg')).toString()
  expect(drawing).toContain('ΔH of the feed-forward')
  expect(drawing).not.toContain('var(--')
  expect((await saved('heat-numbers-svg')).toString()).toContain('href="data:image/png')
  expect((await saved('heat-numbers-png')).subarray(1, 4).toString()).toBe('PNG')
})

test(
  'a run is observed for the figures in view alone, and scrubbing shows another kept step',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.withoutMoments()
    await openInside(
      lab,
      page,
      `v=1&p=tiny&phases.0.steps=12&phases.1.steps=4&phases.2.steps=4&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=16${QUICK}`,
    )
    // The lens would push the figures below it out of view once it is filled.
    for (const id of ['cosine', 'lens']) await lab.get(id).locator('> summary').click()
    await lab.get('flow').evaluate((figure) => figure.scrollIntoView())
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)

    await expect(lab.get('delta')).toHaveAttribute('data-step', /\d/)
    const observed = (await lab.events()).filter((event) => event.type === 'observed')
    expect(observed.length).toBeGreaterThan(1)
    expect(observed.some(({ observation }) => observation.mean.dH_ffn !== undefined)).toBe(true)
    // Folded away, it is never measured; pushed out of view by the figures above it, no longer.
    for (const { observation } of observed) expect(observation.mean.cos_attn).toBeUndefined()
    const last = observed[observed.length - 1]
    expect(last.observation.mean.cos_hidden).toBeUndefined()

    // What is read is what the worker measured.
    await expect(lab.get('delta')).toHaveAttribute('data-step', `${last.step}`)
    const change = last.observation.mean.dH_attn?.[L - 1] ?? Number.NaN
    await expect(lab.get('delta-attention-value')).toContainText(
      String(Number(Math.abs(change).toPrecision(3))),
    )

    await lab.get('kept-previous').click()
    await expect(lab.get('delta')).not.toHaveAttribute('data-step', `${last.step}`)
    const shown = Number(await lab.get('delta').getAttribute('data-step'))
    expect(observed.some(({ step }) => step === shown)).toBe(true)
    expect(shown).toBeLessThan(last.step)
    await lab.get('follow').click()
    await expect(lab.get('delta')).toHaveAttribute('data-step', `${last.step}`)
  },
)

test(
  'before a run, a model that comes with the page is opened by two presses',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open('v=1&p=tiny#tab=inside')
    await lab.get('inside-models').click()
    await lab.get('open-shipped-sorter').click()
    await expect(lab.get('model-facts')).toContainText('qwen3, 3 layers of 32 channels, 26 tokens')
    await lab.get('chat-text').fill('312>')
    await lab.get('model-read').click()
    await expect(lab.get('model-grid').locator('tbody tr')).toHaveCount(4)
  },
)

test('on a phone the tab is a list of headings, of which the first is open', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await openInside(lab, page, `v=1&p=tiny${QUICK}`)
  const open = (id: string) => lab.get(id).evaluate((fold) => fold.hasAttribute('open'))
  expect(await open('lens')).toBe(true)
  for (const id of ['flow', 'delta', 'suggested', 'cosine', 'target', 'heat', 'pass'])
    expect(await open(id), id).toBe(false)
  const height = () => lab.get('pass').evaluate(() => document.documentElement.scrollHeight)
  expect(await height()).toBeLessThan(4 * 844)
  // Beside its long text a box keeps its size.
  const choice = await lab.get('live-parts-on').boundingBox()
  expect(choice?.width).toBeGreaterThanOrEqual(13)
  await lab.get('cosine').locator('> summary').click()
  expect(await open('cosine')).toBe(true)
})

test('a first visit finds what comes first open and a sentence on every other fold, and what was opened stays so', async ({
  lab,
  page,
}) => {
  lab.asFirstVisit()
  await openInside(lab, page, `v=1&p=tiny${QUICK}`)
  const open = (id: string) => lab.get(id).evaluate((fold) => fold.hasAttribute('open'))
  for (const id of ['lens', 'flow', 'suggested', 'heat']) expect(await open(id), id).toBe(true)
  for (const id of ['delta', 'cosine', 'target', 'final-entropy', 'pass']) {
    expect(await open(id), id).toBe(false)
    await expect(lab.get(id).locator('> summary > p'), id).toHaveText(/\.$/)
  }
  const height = await lab.get('pass').evaluate(() => document.documentElement.scrollHeight)
  expect(height).toBeLessThan(4 * 900)
  await lab.get('cosine').locator('> summary').click()
  expect(await open('cosine')).toBe(true)
  await lab.get('heat').locator('> summary').click()
  // The browser tells the page of a fold after the press.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
  await page.reload()
  await expect(lab.get('heat')).toBeVisible()
  expect([await open('cosine'), await open('heat'), await open('lens')]).toEqual([
    true,
    false,
    true,
  ])
})
