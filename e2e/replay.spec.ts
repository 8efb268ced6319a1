// A browser without WebGPU plays a recorded run through the same page, and never pretends to train.
import type { Page } from '@playwright/test'
import { expectLowBars, NARROW } from './bars.ts'
import { expect, LONG_ONLY, test } from './lab_page.ts'

const STEPS = 45

/** Whether something is drawn on a chart. */
async function isPainted(page: Page, id: string): Promise<boolean> {
  const canvas = page.getByTestId(id).locator('canvas')
  await canvas.scrollIntoViewIfNeeded()
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const { width, height } = element
    const pixels = element.getContext('2d', { willReadFrequently: true })
    return [...(pixels?.getImageData(0, 0, width, height).data ?? [])].some((byte) => byte > 0)
  })
}

test(
  'the recorded run plays through: charts, samples and a badge, and the way back',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=two-skills-grpo&seed=5')
    await expect(lab.get('lacks-gpu')).toBeVisible()
    await lab.get('watch-recording').click()
    const badge = lab.get('replay')
    await expect(badge).toContainText(/Recorded on\s*\S.*\d+ \w+ \d{4}/)
    await expect(lab.get('lacks-gpu')).toHaveCount(0)
    await expect(lab.get('status')).toHaveText('replaying')
    await expect(lab.get('adapter')).toContainText('recording')
    // What cannot be changed says so by itself.
    await expect(lab.get('preset')).toBeDisabled()
    await expect(page.locator('#field-seed')).toBeDisabled()
    await expect(lab.get('add-phase')).toBeHidden()
    await lab.get('replay-speed').selectOption('32')
    await lab.waitForStatus('finished')
    await expect(lab.get('status')).toHaveText('replayed')
    await expect(lab.get('step-count')).toHaveText(String(STEPS))
    await expect(lab.get('phases')).toContainText('41 of 41')
    await expect(lab.get('reward-value')).toContainText('%')
    await expect(lab.get('samples').getByRole('table').first()).toContainText(`Step ${STEPS}`)
    for (const chart of ['reward-chart', 'entropy-chart', 'heatmap-plot'])
      await expect.poll(() => isPainted(page, chart), { message: chart }).toBe(true)
    await expect(badge).toBeVisible()
    await expect(page.locator('#train')).toHaveText('Play again')

    // Inside lists its questions and goes to each, and none of its figures is empty.
    await lab.show('inside')
    const contents = page.getByRole('navigation', { name: 'Contents of this tab' })
    for (const question of ['What does a layer know?', 'What does a block do?', 'What changed?']) {
      const head = page.getByRole('heading', { name: question, exact: true })
      await contents.getByRole('button', { name: question }).click()
      await expect(head).toBeInViewport()
      await expect(head).toBeFocused()
    }
    // What waits for a state of a run that is over has no place in them yet.
    await expect(contents.getByRole('button')).toHaveCount(3)
    await lab.get('target').locator('summary').first().click()
    for (const chart of ['layer-change-chart', 'perplexity-chart', 'divergence-chart'])
      await expect.poll(() => isPainted(page, chart), { message: chart }).toBe(true)

    await lab.get('leave-recording').click()
    await expect(badge).toHaveCount(0)
    // Beside another tab the picture is a strip without words.
    await lab.show('learn')
    await expect(lab.get('lacks-gpu')).toBeVisible()
    await expect(page.locator('#field-seed')).toHaveValue('5')
    expect(page.url()).toContain('p=two-skills-grpo&seed=5')
  },
)

/** Half the way down of every control beside the experiment: one where they are one row. */
const rowsOfBar = (page: Page): Promise<number[]> =>
  page.evaluate(() => {
    const parts = [...document.querySelectorAll('.bar :is(button, select)')]
    const seen = parts.filter((part) => part.checkVisibility())
    return [
      ...new Set(
        seen.map((part) => part.getBoundingClientRect()).map(({ y, height }) => y + height / 2),
      ),
    ]
  })

test(
  'bars are low without a GPU, while a recording plays and at its end',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open()
    await expect(lab.get('lacks-gpu')).toBeVisible()
    await expect(lab.get('forest')).toBeVisible()
    await expectLowBars(lab, 'no GPU')
    await lab.get('watch-recording').first().click()
    await lab.get('replay-speed').selectOption('32')
    await lab.waitForStep(6)
    await expectLowBars(lab, 'a recording')
    await lab.waitForStatus('finished')
    await expectLowBars(lab, 'a recording that has ended')
    // The last one is a window of 1440 with a bar to scroll by.
    for (const [width, height] of [...NARROW.slice(2), [1425, 900]]) {
      await page.setViewportSize({ width, height })
      expect(await rowsOfBar(page), `${width}`).toHaveLength(1)
    }
  },
)

test('a recording can be paused, stepped and begun again', LONG_ONLY, async ({ lab, page }) => {
  await lab.open('v=1&p=tiny')
  // The button moves there once the worker has found no GPU.
  await page.locator('.forest').getByTestId('watch-recording').click()
  await lab.waitForStep(1)
  await lab.get('pause').click()
  await lab.waitForStatus('paused')
  // What was under way when it paused still arrives.
  await page.waitForTimeout(500)
  const step = await lab.number('step-count')
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText(String(step + 1))
  await expect(lab.get('next-phase')).toBeDisabled()
  await lab.get('reset').click()
  await expect(lab.get('step-count')).toHaveText('–')
  await lab.get('train').click()
  await lab.waitForStep(1)
  await expect(lab.get('replay')).toBeVisible()
})

test('a file that is no recording is said, and the page stays', async ({ lab, page }) => {
  await page.route('**/recordings/*.json', (route) => route.fulfill({ json: { recording: 9 } }))
  await lab.open('v=1&p=tiny')
  // The button moves there once the worker has found no GPU.
  await page.locator('.forest').getByTestId('watch-recording').click()
  await expect(page.getByRole('alert').getByText(/no recording of version 1/)).toBeVisible()
  await expect(lab.get('replay')).toHaveCount(0)
  await expect(lab.get('watch-recording')).toBeEnabled()
})
