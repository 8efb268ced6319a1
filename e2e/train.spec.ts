// What a person was promised: press Train, and reward, accuracy and the layers' entropies move.
import type { Page } from '@playwright/test'
import { expect, type StepEvent, test } from './lab_page.ts'

/** The tiny preset, its last phase cut short: 20 steps of reinforcement are enough to see it work. */
const LINK = 'v=1&p=tiny&phases.2.steps=16'
const LAYERS = 3
/** Means of 8 steps of 128 responses: their standard error is about 0.015. */
const WINDOW = 8

/** Measured on SwiftShader: reward 0.23 to 0.35, held-out accuracy 0 to 77 %; half of that is asked for. */
const REWARD_RISE = 0.06
const ACCURACY_RISE = 38

function meanReward(steps: readonly StepEvent[]): number {
  const rewards = steps.map(({ metrics }) => metrics['critic/score/mean'])
  return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
}

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

test('after Train, reward and accuracy rise, the phases switch and the layers differ', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await expect(lab.get('adapter')).toContainText('software adapter')
  await lab.get('train').click()
  await expect(lab.get('accuracy-value')).not.toHaveText('–')
  const accuracy_before = await lab.number('accuracy-value')
  await lab.waitForStatus('finished', 400_000)

  // Phases switch where the experiment says.
  const switches = (await lab.events()).filter((event) => event.type === 'phase')
  expect(switches.map(({ step, phase, reason }) => [step, phase, reason])).toEqual([
    [0, 0, 'start'],
    [66, 1, 'steps'],
    [70, 2, 'steps'],
  ])
  await expect(lab.get('step-count')).toHaveText('86')
  for (const done of ['66 of 66', '4 of 4', '16 of 16'])
    await expect(lab.get('phases')).toContainText(done)

  // Reward and accuracy rise, and what the page shows is what the worker computed.
  const rl = (await lab.steps()).filter(({ phase }) => phase > 0)
  expect(meanReward(rl.slice(-WINDOW)) - meanReward(rl.slice(0, WINDOW))).toBeGreaterThan(
    REWARD_RISE,
  )
  const last_reward = 100 * (rl.at(-1)?.metrics['critic/score/mean'] ?? Number.NaN)
  await expect(lab.get('reward-value')).toHaveText(`${last_reward.toFixed(1)} %`)
  expect((await lab.number('accuracy-value')) - accuracy_before).toBeGreaterThan(ACCURACY_RISE)

  // One row per layer policy, 0 to L, each with its own entropy and colour.
  await expect(lab.get('heatmap')).toHaveAttribute('data-rows', String(LAYERS + 1))
  const rows = lab.get('heatmap-latest').getByRole('row')
  await expect(rows).toHaveCount(LAYERS + 1)
  const entropies = await rows.evaluateAll((all) => all.map((row) => Number(row.dataset.value)))
  const sorted = [...entropies].sort((a, b) => a - b)
  for (let i = 1; i < sorted.length; i++) expect(sorted[i] - sorted[i - 1]).toBeGreaterThan(0.02)
  expect(new Set(await rowColours(page, LAYERS + 1)).size).toBe(LAYERS + 1)

  // Samples are of the newest reinforcement step.
  await expect(lab.get('samples').getByRole('table').first()).toContainText('Step 86')
})
