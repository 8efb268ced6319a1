// Tests what a person was promised: press Train, and accuracy and the layers' entropies move.
// newcomer.spec.ts tests that reward rises.
import type { Page } from '@playwright/test'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** The tiny preset, its phases of reinforcement cut short: the supervised one makes the layers
 * differ. */
const LINK = `v=1&p=tiny&phases.0.steps=50&phases.0.batch_size=32&probe.rows=16&phases.1.steps=2&phases.2.steps=3&validation.prompts=64&rollout.train_batch_size=16&actor.ppo_mini_batch_size=16${QUICK}`
const LAYERS = 3

/** Measured on SwiftShader: held-out accuracy 0 to 69 %; half of that is asked for. */
const ACCURACY_RISE = 34

/** The colour of each row of the heat map near its right end, bottom row first. */
async function rowColours(page: Page, rows: number): Promise<string[]> {
  const plot = page.getByTestId('heatmap-plot')
  // Charts are painted while they are on screen; reading twice would make the browser warn.
  await plot.scrollIntoViewIfNeeded()
  await page.waitForTimeout(500)
  return plot.locator('canvas').evaluate((canvas: HTMLCanvasElement, count) => {
    const { width, height } = canvas
    const column = canvas.getContext('2d')?.getImageData(Math.floor(0.9 * width), 0, 1, height).data
    return Array.from({ length: count }, (_, row) => {
      const y = Math.floor(height * (1 - (row + 0.5) / count))
      return [...(column?.slice(4 * y, 4 * y + 4) ?? [])].join(' ')
    })
  }, rows)
}

test(
  'after Train, accuracy rises, the phases switch and the layers differ',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.withoutMoments()
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await expect(lab.get('adapter')).toContainText('software adapter')
    await lab.get('train').click()
    await expect(lab.get('accuracy-value')).not.toHaveText('–')
    const accuracyBefore = await lab.number('accuracy-value')
    await lab.waitForStatus('finished', 400_000)

    // Phases switch where the experiment says.
    const switches = (await lab.events()).filter((event) => event.type === 'phase')
    expect(switches.map(({ step, phase, reason }) => [step, phase, reason])).toEqual([
      [0, 0, 'start'],
      [50, 1, 'steps'],
      [52, 2, 'steps'],
    ])
    await expect(lab.get('step-count')).toHaveText('55')
    for (const done of ['50 of 50', '2 of 2', '3 of 3'])
      await expect(lab.get('phases')).toContainText(done)

    // Accuracy rises, and what the page shows is what the worker computed.
    const lastStep = (await lab.steps()).at(-1)
    const lastReward = 100 * (lastStep?.metrics['critic/score/mean'] ?? Number.NaN)
    await expect(lab.get('reward-value')).toHaveText(`${lastReward.toFixed(1)} %`)
    expect((await lab.number('accuracy-value')) - accuracyBefore).toBeGreaterThan(ACCURACY_RISE)

    // One row per layer policy, 0 to L, each with its own entropy and colour.
    await expect(lab.get('heatmap')).toHaveAttribute('data-rows', String(LAYERS + 1))
    const rows = lab.get('heatmap-latest').getByRole('row')
    await expect(rows).toHaveCount(LAYERS + 1)
    const entropies = await rows.evaluateAll((all) => all.map((row) => Number(row.dataset.value)))
    const sorted = [...entropies].sort((a, b) => a - b)
    for (let i = 1; i < sorted.length; i++) expect(sorted[i] - sorted[i - 1]).toBeGreaterThan(0.02)
    expect(new Set(await rowColours(page, LAYERS + 1)).size).toBe(LAYERS + 1)

    // Samples are of the newest reinforcement step.
    await expect(lab.get('samples').getByRole('table').first()).toContainText('Step 55')
  },
)
