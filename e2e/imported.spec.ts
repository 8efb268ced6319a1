// What the page makes of logs of other trainers.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect } from './lab_page.ts'
import { test } from './warm_page.ts'

const STEPS = 12

/** A log of TRL with two evaluations, in a folder of its own. */
function writeLog(): { readonly log: string; readonly notes: string } {
  const folder = mkdtempSync(join(tmpdir(), 'imported-'))
  const [log, notes] = ['trainer_state.json', 'notes.md'].map((name) => join(folder, name))
  const log_history = Array.from({ length: STEPS }, (_, i) => ({
    step: i + 1,
    reward: (i + 1) / 20,
    eval_first_reward: (i + 1) / 40,
    eval_second_reward: (i + 1) / 50,
  }))
  writeFileSync(log, JSON.stringify({ best_metric: null, log_history }))
  writeFileSync(notes, '# Notes of mine')
  return { log, notes }
}

test('a log is imported, each of its evaluations is drawn, and Escape ends a zoom', async ({
  lab,
  page,
}) => {
  const { log, notes } = writeLog()
  const choose = async (path: string) => {
    const choosing = page.waitForEvent('filechooser')
    await lab.get('import-run').click()
    await (await choosing).setFiles(path)
  }
  await lab.open()
  await lab.show('runs')
  // What is no log is said where it was asked for, and opened only as somebody says.
  await choose(notes)
  await expect(lab.get('not-imported')).toContainText('notes.md')
  await expect(page.locator('dialog[open]')).toHaveCount(0)
  await lab.get('open-anyhow').click()
  await expect(page.locator('dialog[open]')).toBeVisible()
  await page.keyboard.press('Escape')
  await choose(log)
  const chart = lab.get('reward-chart-card')
  await expect(chart).toContainText('first')
  await expect(chart).toContainText('second')
  await expect(chart).toContainText('In the log: reward; eval_first_reward; eval_second_reward')
  // It has no settings, which take no room until somebody asks for them.
  const settings = lab.get('past-settings')
  await expect(settings).toHaveClass(/closed/)
  await lab.get('settings-toggle').click()
  await expect(settings).toContainText('A log does not say with which settings')
  await lab.get('settings-toggle').click()
  await expect(settings).toHaveClass(/closed/)
  // The number beside the smoothed line is that of the headline.
  await expect(lab.get('reward-value')).toHaveText('0.6')
  const label = chart.locator('.legend button', { hasText: 'reward' }).first()
  await expect(label).toContainText('0.6')
  await expect(label).toContainText('fit ')

  const plot = lab.get('reward-chart')
  const whole = (await plot.getAttribute('data-steps')) ?? ''
  const area = plot.locator('.plot-area')
  await area.scrollIntoViewIfNeeded()
  const box = await area.boundingBox()
  if (!box) throw new Error('the plot is not there')
  const zoom = async () => {
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + 0.25 * box.width, y)
    await page.mouse.down()
    await page.mouse.move(box.x + 0.5 * box.width, y, { steps: 3 })
    await page.mouse.up()
    await expect(plot).not.toHaveAttribute('data-steps', whole)
  }
  await zoom()
  await page.keyboard.press('Escape')
  await expect(plot).toHaveAttribute('data-steps', whole)
  // What is open above the page is closed first, and a field keeps its key.
  await zoom()
  await page.keyboard.press('?')
  await expect(page.locator('dialog[open]')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.locator('dialog[open]')).toHaveCount(0)
  await expect(plot).not.toHaveAttribute('data-steps', whole)
  await lab.get('smoothing').focus()
  await page.keyboard.press('Escape')
  await expect(plot).not.toHaveAttribute('data-steps', whole)
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.keyboard.press('Escape')
  await expect(plot).toHaveAttribute('data-steps', whole)
})

/** Logs of TRL whose rewards are sums, each in a folder of its own. */
const writeSums = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, run) => {
    const folder = mkdtempSync(join(tmpdir(), 'sums-'))
    const log = join(folder, `a_run_of_a_long_name_${run}.json`)
    const log_history = Array.from({ length: STEPS }, (_, i) => ({
      step: i + 1,
      reward: 0.2 * (i + 1) + run,
      learning_rate: 0.001,
    }))
    writeFileSync(log, JSON.stringify({ best_metric: null, log_history }))
    return log
  })

test('sums of rewards are plain numbers on an axis that holds them, and are not ranked', async ({
  lab,
  page,
}) => {
  const importLog = async (path: string) => {
    await lab.show('runs')
    const choosing = page.waitForEvent('filechooser')
    await lab.get('import-run').click()
    await (await choosing).setFiles(path)
    // The one before it is shown until this one is read.
    await expect(lab.get('past-run')).toContainText(basename(path, '.json'))
  }
  const fits = async (widths: readonly number[]) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      const [wide, room] = await page
        .locator('.runs-scroll')
        .evaluate((place) => [place.scrollWidth, place.clientWidth])
      expect(wide, `${width}`).toBeLessThanOrEqual(room)
    }
  }
  await lab.open()
  const [first, ...others] = writeSums(4)
  await importLog(first)
  await expect(lab.get('reward-value')).toHaveText('2.4')
  const chart = lab.get('reward-chart-card')
  await expect(chart).not.toContainText('%')
  await expect(chart).toContainText('3')
  for (const log of others) await importLog(log)
  await lab.show('inside')
  await expect(lab.get('inside-log')).toHaveText('A log has no weights to look into.')
  await lab.show('tokens')
  await expect(lab.get('tokens-log')).toContainText('no responses token by token')
  await expect(lab.get('look-now')).toHaveCount(0)

  // The first columns have a course beside them, and a column more leaves room for what can be
  // done to a run.
  await lab.show('runs')
  await fits([1440, 1280, 1150])
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect(lab.get('runs-table').locator('.spark').first()).toBeVisible()
  await page.evaluate(() => {
    const columns = ['metric:score', 'metric:entropy', 'metric:actor/lr']
    const view = { metric: '', columns, group: '', filters: [] }
    localStorage.setItem('understory.runs_table', JSON.stringify(view))
  })
  await page.reload()
  await lab.show('runs')
  await expect(lab.get('run')).toHaveCount(4)
  await fits([1440, 1280, 1150])
  for (const tick of await lab.get('tick').all()) await tick.check()
  await expect(lab.get('compare-says')).toContainText('Not ranked')
  await lab.get('to-comparison').click()
  await expect(page.locator('#compare-title')).toBeInViewport()
})

/** verl's lines: responses grow, the reward alone is the score, and the accuracy rises. */
function writeVerl(name: string, steps: number, top: number): string {
  const path = join(mkdtempSync(join(tmpdir(), 'verl-')), name)
  const lines = Array.from({ length: steps }, (_, i) => {
    const acc = (top * (i + 1)) / steps
    const data = {
      'critic/rewards/mean': acc,
      'response_length/mean': 100 + 20 * i,
      'val-core/openai/gsm8k/acc/mean@1': acc,
    }
    return `${JSON.stringify({ step: i + 1, data })}\n`
  })
  writeFileSync(path, lines.join(''))
  return path
}

test('runs of unequal length are compared where both have come, each by its log’s names', async ({
  lab,
  page,
}) => {
  await lab.open()
  await lab.show('runs')
  const choosing = page.waitForEvent('filechooser')
  await lab.get('import-run').click()
  // Two files of one name are as many runs.
  await (await choosing).setFiles([writeVerl('a.jsonl', 40, 0.9), writeVerl('a.jsonl', 20, 0.6)])
  await page.locator('dialog[open]').getByRole('button', { name: 'Import' }).click()
  await expect(lab.get('run')).toHaveCount(2)
  // After 20 steps the longer one had 45 %, though it ends at 90 %.
  await expect(lab.get('compare-says')).toHaveText(
    /^Over the first 20 steps: “a #2” ends 15\.0 points above “a” in held-out accuracy, gsm8k/,
  )
  await lab.get('compare-more').locator('summary').click()
  await expect(lab.get('compare-more')).toContainText('“a” at 90.0\u00a0%')
  await lab.show('learn')
  await expect(lab.get('reward-chart-card')).toContainText(
    'In the log: critic/rewards/mean; val-core',
  )
  await expect(lab.get('reward-value')).toHaveText('90.0\u00a0%')
  // Longer responses are no finding where nobody knows what was set.
  await expect(lab.get('findings')).toHaveCount(0)
})
