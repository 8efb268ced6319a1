// States of a run that is over are changed, exchanged and probed.
import { readFileSync } from 'node:fs'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** The tiny preset, as short as its three phases can be. */
const SHORT = `v=1&p=tiny&phases.0.steps=3&phases.1.steps=1&phases.2.steps=3&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`

test('a card of Inside says what touching a kept state found', LONG_ONLY, async ({ lab }) => {
  await lab.open(SHORT)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  await lab.show('inside')
  await lab.get('parts-start').click()
  await expect(lab.get('parts-says')).toContainText('With everything on', { timeout: 200_000 })
  await expect(lab.get('parts-problem')).toHaveCount(0)
  // The overview says it too, also after another tab.
  await lab.show('runs')
  await lab.show('inside')
  const contents = lab.page.getByRole('navigation', { name: 'Contents of this tab' })
  await expect(contents).toContainText(/is needed most|no part costs anything/)
  await expect(contents).not.toContainText('a button there')
  // What wrote a token has its tables whole: it is as wide as the tab.
  await lab.show('tokens')
  await lab.get('writing-start').click()
  await expect(lab.get('writing-says')).toContainText('adds the most', { timeout: 200_000 })
  const panel = await lab.page.locator('#tab-panel').boundingBox()
  const card = await lab.get('writing').boundingBox()
  expect(card?.width).toBeGreaterThan(0.9 * (panel?.width ?? 0))
  const cut = await lab
    .get('writing')
    .locator('.scroll')
    .evaluateAll(
      (all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length,
    )
  expect(cut).toBe(0)
})

test(
  'parts of a kept state are switched off, patched, probed and exchanged',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    await lab.show('inside')
    await lab.get('parts-start').click()
    await expect(lab.get('parts-says')).toContainText('With everything on', { timeout: 200_000 })
    await lab.get('parts-map-value').press('End')
    await expect(lab.get('parts-map-value')).toHaveText(
      /^without the feed-forward of layer \d+: .* ± /,
    )
    await lab.get('parts-measure').selectOption('log_prob')
    await expect(lab.get('parts-map-value')).toHaveText(/ nats$/)
    await lab.get('patching-start').click()
    await expect(lab.get('patching-says')).toContainText('What decides it sits', {
      timeout: 200_000,
    })
    await lab.get('patching-view').selectOption('head')
    await lab.get('patching-map-value').press('End')
    await expect(lab.get('patching-map-value')).toHaveText(/^head \d+ of layer \d+ at token .*\s%/)
    await lab.get('patching-clean').fill('1')
    await lab.get('patching-start').click()
    await expect(lab.get('patching-problem')).toContainText('two texts of as many tokens')
    await lab.get('probes-property').selectOption('repeated')
    await lab.get('probes-start').click()
    await expect(lab.get('probes-says')).toContainText('whether a digit occurs twice', {
      timeout: 200_000,
    })
    await lab.get('probes-map-value').press('End')
    await expect(lab.get('probes-map-value')).toHaveText(/^step 7, layer \d+: .* shuffled labels/)
    await expect(lab.get('probes-curve-values').locator('li')).toHaveCount(2)
    // Vectors of two texts are saved, and read again; a file that is none is refused.
    await lab.get('steering-from').selectOption('texts')
    await lab.get('steering-toward').fill('12>')
    await lab.get('steering-away').fill('98>')
    await lab.get('steering-start').click()
    await expect(lab.get('steering-says')).toContainText('The mean reward of', { timeout: 200_000 })
    await lab.get('steering-measure').selectOption('entropy 0')
    await lab.get('steering-map-value').press('End')
    await expect(lab.get('steering-map-value')).toHaveText(/^layer \d+ × 4: .* ± .* nats$/)
    const vectors = page.waitForEvent('download')
    await lab.get('steering-save').click()
    const file = await (await vectors).path()
    await lab.get('steering-from').selectOption('file')
    await expect(lab.get('steering-start')).toBeDisabled()
    const other = { name: 'other', mimeType: '', buffer: Buffer.from('none') }
    await lab.get('steering-file').setInputFiles(other)
    await lab.get('steering-start').click()
    await expect(lab.get('steering-problem')).toContainText('other: ', { timeout: 60_000 })
    await lab.get('steering-file').setInputFiles(file)
    // No answer was right, so reinforcement has left the weights as they were.
    await lab.get('steering-step').selectOption({ index: 1 })
    await lab.get('steering-start').click()
    await expect(lab.get('steering-says')).toContainText('After step 4, mean states of "12>"', {
      timeout: 200_000,
    })
    await expect(lab.get('steering-problem')).toHaveCount(0)
    await lab.get('readings-start').click()
    await expect(lab.get('readings-says')).toContainText('through a Jacobian lens', {
      timeout: 200_000,
    })
    await expect(lab.get('readings-curve-values').locator('li')).toHaveCount(4)
    await lab.get('readings-measure').selectOption('entropy')
    await lab.get('readings-reading').selectOption('jacobian')
    await lab.get('readings-map-value').press('End')
    await lab.get('readings-map-value').press('ArrowDown')
    await expect(lab.get('readings-map-value')).toHaveText(
      /^layer \d+, Jacobian lens, after token \d+ .* with \d+.*%$/,
    )
    const lenses = page.waitForEvent('download')
    await lab.get('readings-save').click()
    const saved = await lenses
    expect(saved.suggestedFilename()).toMatch(/\.tuned\.safetensors$/)
    // The lens of another model, and one that is broken, are refused.
    const lens = readFileSync(await saved.path())
    const others = Buffer.from(lens)
    others.write('sha256-0', lens.indexOf('sha256-'))
    const broken = Buffer.from(lens)
    broken.writeFloatLE(Number.NaN, lens.length - 4)
    for (const [buffer, why] of [
      [others, 'a lens of this model'],
      [broken, 'expected a finite number, found NaN'],
    ] as const) {
      const file = { name: 'my.safetensors', mimeType: '', buffer }
      await lab.get('readings-files').setInputFiles(file)
      await lab.get('readings-start').click()
      await expect(lab.get('readings-problem')).toContainText(why, { timeout: 60_000 })
    }
    await lab.get('learned-start').click()
    await expect(lab.get('learned-says')).toContainText('held-out problems', { timeout: 200_000 })
    await expect(lab.get('learned-curve-values').locator('li')).toHaveCount(2)
    await lab.get('learned-curve-menu').locator('summary').click()
    const mixtures = page.waitForEvent('download')
    await lab.get('learned-curve-csv').click()
    expect(readFileSync(await (await mixtures).path(), 'utf8')).toContain('blocks up to 1')

    // A second run exchanges parts with the first.
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    await lab.show('inside')
    await lab.get('learned-run').selectOption({ index: 1 })
    await lab.get('learned-start').click()
    await expect(lab.get('learned-says')).toContainText('of “', { timeout: 200_000 })
  },
)

test(
  'parts are switched off and layers read through a lens while a run trains, over its steps',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open(
      `v=1&p=tiny-grpo&phases.0.steps=20&phases.1.steps=100&validation.prompts=16${QUICK}`,
    )
    await lab.waitForStatus('idle')
    await lab.show('inside')
    await expect(lab.get('live-parts')).toHaveCount(0)
    await lab.get('live-parts-on').check()
    await lab.get('train').click()
    await lab.get('layer-entropies-reading').selectOption('tuned')
    // Figures above it grow as they are measured, and push it out of view.
    await expect(async () => {
      await lab.get('layer-entropies-reading').scrollIntoViewIfNeeded()
      await expect(lab.get('layer-entropies-says')).toContainText('tuned lens fitted after step')
    }).toPass({ timeout: 200_000 })
    await lab.waitForStatus('finished', 400_000)
    await expect(lab.get('layer-entropies-says')).toContainText('moved most')
    // What is not a lens is there too, at every step that was looked at.
    await lab.get('layer-entropies-reading').selectOption('raw')
    await expect(lab.get('layer-entropies-says')).toContainText('raw state')
    await expect(lab.get('layer-entropies-values').locator('li')).toHaveCount(4)
    await expect(lab.get('live-parts-says')).toContainText('With everything on')
    await lab.get('live-parts-map-value').press('End')
    await expect(lab.get('live-parts-map-value')).toHaveText(/^without the feed-forward of layer/)
    await lab.get('live-parts-group').selectOption('heads 2')
    await lab.get('live-parts-steps-measure').selectOption('log_prob')
    await expect(lab.get('live-parts-steps-values').locator('li')).toHaveCount(2)
    await lab.get('live-parts-on').uncheck()
  },
)
