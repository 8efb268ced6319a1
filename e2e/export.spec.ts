// A job leaves the page as the command line writes it, and a log of another trainer comes in as a
// run.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { unzipSync } from 'fflate'
import { cutChoices } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

async function openExport(lab: LabPage): Promise<void> {
  await expect(lab.get('status')).toHaveAttribute('data-status', /idle|finished/)
  await lab.page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('export a model')
  await lab.page.keyboard.press('Enter')
  await expect(lab.get('export-download')).toBeEnabled()
}

/** The files of the .zip below its one folder. */
async function download(lab: LabPage, format = 'verl-0\\.9'): Promise<ReadonlyMap<string, Buffer>> {
  const coming = lab.page.waitForEvent('download')
  await lab.get('export-download').click()
  const file = await coming
  expect(file.suggestedFilename()).toMatch(new RegExp(`^[\\w-]+-seed-1-${format}\\.zip$`))
  const files = Object.entries(unzipSync(readFileSync(await file.path())))
  return new Map(files.map(([path, bytes]) => [path.replace(/^[^/]+\//, ''), Buffer.from(bytes)]))
}

test('the page and the command line write the same job', async ({ lab, page }) => {
  await lab.open('v=1&p=tiny')
  await openExport(lab)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await cutChoices(page, '.export-dialog select')).toEqual([])
  const files = await download(lab)
  await expect(lab.get('export-said')).toContainText(/Saved .*\.zip: \d+ files/)
  const folder = join(mkdtempSync(join(tmpdir(), 'export-')), 'job')
  execFileSync('node', ['scripts/lab.mjs', 'export', 'tiny', '--to', 'verl', folder])
  const { files: listed } = JSON.parse(readFileSync(join(folder, 'understory.json'), 'utf8'))
  const paths = [...listed, 'understory.json']
  for (const path of ['run_verl.sh', 'README.md', 'model/config.json', 'model/model.safetensors'])
    expect(paths).toContain(path)
  expect([...files.keys()].sort()).toEqual([...paths].sort())
  for (const path of paths)
    expect(files.get(path)?.equals(readFileSync(join(folder, path))), path).toBe(true)
  rmSync(join(folder, '..'), { recursive: true })
})

test(
  'the dialog says what a system cannot run, and scales up',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny-ppo')
    await openExport(lab)
    await page.setViewportSize({ width: 390, height: 844 })
    await expect(lab.get('export-source')).toBeFocused()
    await lab.get('export-to-bupo').check()
    await expect(lab.get('export-download')).toBeDisabled()
    await expect(lab.get('export-refused').first()).toContainText('choose verl')
    const bupo = page.locator('.export-target', { has: lab.get('export-to-bupo') })
    await expect(bupo).toContainText('not possible')
    await lab.get('export-to-verl').check()
    await lab.get('export-scale').check()
    await lab.get('export-model').fill('Qwen/Qwen3-8B')
    await lab.get('export-train_batch_size').fill('129')
    await expect(lab.get('export-scale-refused')).toContainText('divide by 8 GPUs')
    await lab.get('export-train_batch_size').fill('256')
    const { violations } = await new AxeBuilder({ page }).include('.export-dialog').analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([])
    const sideways = await lab
      .get('export-dialog')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    expect(sideways).toBeLessThanOrEqual(0)
    const script = (await download(lab)).get('run_verl.sh')?.toString() ?? ''
    expect(script).toContain('data.train_batch_size=256\n')
    expect(script).toContain('critic.model.path="Qwen/Qwen3-8B"')
    await page.keyboard.press('Escape')
    await expect(lab.get('export-dialog')).toBeHidden()
  },
)

test('a checkpoint leaves with its weights', LONG_ONLY, async ({ lab }) => {
  const sizes = '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8'
  await lab.open(`v=1&p=tiny-grpo&phases.0.steps=2&phases.1.steps=1${sizes}${QUICK}`)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  await openExport(lab)
  await expect(lab.get('export-source')).not.toHaveValue('settings')
  const trained = await download(lab)
  expect(trained.get('README.md')?.toString()).toContain('those after step 3 of a run')
  // The metrics are of the whole run.
  await lab.get('export-to-notebook').check()
  const curves = await download(lab, 'notebook')
  expect([...curves.keys()].sort()).toEqual(['metrics.csv', 'metrics.ipynb', 'understory.json'])
  expect(curves.get('metrics.csv')?.toString()).toMatch(/^step,.*critic\/score\/mean/)
  expect(JSON.parse(curves.get('metrics.ipynb')?.toString() ?? '').nbformat).toBe(4)
  await lab.get('export-to-verl').check()
  await lab.get('export-source').selectOption('settings')
  await expect(lab.get('export-to-notebook')).toBeHidden()
  await expect(lab.get('export-warnings')).toBeVisible()
  const untrained = await download(lab)
  expect(untrained.get('README.md')?.toString()).toContain('are untrained')
  const weights = 'model/model.safetensors'
  expect(trained.get(weights)?.length).toBe(untrained.get(weights)?.length)
  expect(trained.get(weights)?.equals(untrained.get(weights) as Buffer)).toBe(false)
})

test(
  'a log of verl becomes a run with its source and its curve',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    const lines = [1, 2, 3].map((step) =>
      JSON.stringify({
        step,
        data: {
          'critic/score/mean': step / 10,
          'actor/entropy': 2 / step,
          'val-core/own/reward/mean@1': 0.7,
        },
      }),
    )
    await lab.waitForStatus('idle')
    const choosing = page.waitForEvent('filechooser')
    await page.keyboard.press('Control+k')
    await lab.get('palette-input').fill('open file')
    await page.keyboard.press('Enter')
    const buffer = Buffer.from(`${lines.join('\n')}\n`)
    await (await choosing).setFiles({ name: 'metrics.jsonl', mimeType: 'text/plain', buffer })
    await expect(lab.get('toast')).toContainText('Imported metrics.jsonl: 3 steps')
    // The page shows it, with what the log says and nothing else.
    await expect(lab.get('past-run')).toContainText('Imported run “metrics”')
    await expect(lab.get('past-run')).toContainText('from metrics.jsonl, 3 steps')
    await expect(lab.get('past-run')).toContainText('From metrics.jsonl (verl’s file logger)')
    await expect(lab.get('accuracy-value')).toHaveText('70.0 %')
    await expect(page.locator('body')).not.toContainText('GRPO, layer')
    await lab.show('runs')
    await expect(lab.get('run')).toContainText('metrics')
    await expect(lab.get('run')).not.toContainText('BuPO')
    await lab.get('edit-run').click()
    await expect(lab.get('run-details')).toContainText('Imported frommetrics.jsonl')
    await lab.get('open-run').click()
    await expect(lab.get('past-run')).toContainText('metrics')
    await lab.show('learn')
    await expect(lab.get('reward-value')).toHaveText('30.0 %')
    // The line is painted: some pixels of the chart of rewards are not clear.
    const canvas = page.locator('#tab-panel canvas').first()
    await expect
      .poll(() =>
        canvas.evaluate((own: HTMLCanvasElement) => {
          const pixels = own.getContext('2d')?.getImageData(0, 0, own.width, own.height).data ?? []
          return pixels.some((value) => value > 0)
        }),
      )
      .toBe(true)
  },
)
