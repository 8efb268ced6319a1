// The layer to train first: measured in a run, named, and put into the settings.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** The smallest preset with a short warm start: measured before the first step and where the inner
 * phase begins. */
const LINK = `v=1&p=tiny&phases.0.steps=12&phases.1.steps=1&phases.2.steps=1&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=16${QUICK}`

test(
  'the measurement is switched on, names a layer, and the layer goes into a phase',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.show('inside')
    await lab.waitForStatus('idle')
    await lab.get('measure-internals').click()
    await expect(lab.get('suggested-waits')).toContainText('next step that validates')
    await expect.poll(() => page.url()).toContain('probe.internals=')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)

    // What is shown is what was measured where reinforcement began: after step 12.
    await expect(lab.get('suggested')).toContainText('Step 12 is where reinforcement began')
    const began = (await lab.steps()).find(({ step }) => step === 12)
    const changes = [1, 2, 3].map((layer) => began?.metrics[`layer/delta_h_ffn/${layer}`] ?? NaN)
    const rows = lab.get('layer-changes').locator('tbody tr')
    await expect(rows).toHaveCount(3)
    for (const [l, change] of changes.entries())
      await expect(rows.nth(l)).toContainText(Math.abs(change).toFixed(3))

    // The threshold decides: above every change, and as low as it goes.
    await lab.get('suggested').getByText('The rule and its threshold').click()
    const threshold = lab.get('ffn-threshold')
    await threshold.fill('999')
    await expect(lab.get('threshold-problem')).toContainText('from 0 to 10')
    await threshold.fill('10')
    await expect(lab.get('suggested-layer')).toContainText('No layer comes first')
    await expect(lab.get('suggested-use')).toHaveCount(0)
    const last = changes.findLastIndex((change) => change > 0) + 1
    expect(last).toBeGreaterThan(0)
    const layer = Math.min(last, 2)
    await threshold.fill('0')
    await expect(lab.get('suggested-layer')).toContainText(`Train layer ${layer} first`)

    // Into the phase that trains layer 2; where that is it already, into a new one before the whole
    // model's.
    if (layer === 2) await expect(lab.get('suggested-use')).toBeDisabled()
    else {
      await lab.get('suggested-use').click()
      await expect(lab.get('phases')).toContainText(`layer ${layer}`)
      await expect.poll(() => page.url()).toContain(`phases.1.target_layer=${layer}`)
    }
    await lab.get('suggested-add').click()
    await expect(lab.get('phases').getByRole('listitem')).toHaveCount(4)
    await expect.poll(() => page.url()).toContain(`phases.2.target_layer=${layer}`)

    // The threshold is remembered.
    await page.reload()
    await lab.waitForStatus('idle')
    expect(await page.evaluate(() => localStorage.getItem('understory.ui'))).toContain(
      '"ffn_threshold":0',
    )
  },
)
