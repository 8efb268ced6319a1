// One slider looks back: charts, numbers and samples show its step, and Follow returns to the
// newest.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const STEPS = 22
const LINK =
  `v=1&p=tiny&phases.0.steps=6&phases.1.steps=4&phases.2.steps=12${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8'

test(
  'the slider moves the whole page to a step that is over, and back',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await expect(lab.get('scrubber')).toHaveCount(0)
    await lab.get('train').click()
    await lab.waitForStatus('finished', 300_000)
    // Handle, fill and phases have one scale: at the end of the run all of them are at its right.
    const rights = await page.evaluate(() => {
      const [right, now] = ['.phases', '.axis-now'].map((name) => {
        const box = document.querySelector(name)?.getBoundingClientRect()
        return box ?? new DOMRect()
      })
      const fill = [...document.querySelectorAll('.phase-done')].at(-1)?.getBoundingClientRect()
      return [right.right, (now.left + now.right) / 2, fill?.right ?? 0]
    })
    expect(Math.max(...rights) - Math.min(...rights)).toBeLessThanOrEqual(2)
    const steps = await lab.steps()
    const entropyAt = (step: number) =>
      steps.find((event) => event.step === step)?.metrics['layer/entropy/3'] ?? Number.NaN
    const shown = (value: number) => value.toFixed(3)
    const slider = lab.get('scrubber')
    await expect(slider).toHaveValue(String(STEPS))
    await expect(lab.get('follow')).toHaveAttribute('aria-pressed', 'true')

    // Arrow keys: one step back at a time. The numbers say that they are of that step.
    await slider.press('ArrowLeft')
    await slider.press('ArrowLeft')
    const step = STEPS - 2
    await expect(lab.get('scrub-step')).toHaveText(`Step ${step} of ${STEPS}`)
    await expect(lab.get('numbers')).toHaveAttribute('data-step', String(step))
    await expect(lab.get('numbers')).toContainText(`looking back from ${STEPS}`)
    await expect(lab.get('entropy-value')).toHaveText(`${shown(entropyAt(step))} nats`)
    await expect(lab.get('steps-per-second')).toHaveText('–')
    // So do the charts: a line at the step, and its values beside them.
    await lab.get('entropy-chart').scrollIntoViewIfNeeded()
    await expect(lab.get('entropy-chart').locator('.cursor')).toBeVisible()
    await expect(lab.get('entropy-chart-card').locator('.legend li').last()).toContainText(
      shown(entropyAt(step)),
    )
    await expect(lab.get('heatmap-value')).toContainText(`step ${step}`)
    await expect(lab.get('heatmap-latest').getByRole('row').last()).toHaveAttribute(
      'data-value',
      String(entropyAt(step)),
    )

    // Samples are those that were kept last; [ and ] go from one kept step to the next.
    const caption = lab.get('samples').locator('caption')
    const stepsOf = async (type: 'samples' | 'generations') =>
      (await lab.events()).flatMap((event) => (event.type === type ? [event.step] : []))
    const sampled = await stepsOf('samples')
    const all = [...sampled, ...(await stepsOf('generations'))].sort((a, b) => a - b)
    const kept = [...new Set(all)].filter((kept) => kept < step)
    const samplesAt = (at = 0) => `Step ${sampled.findLast((own) => own <= at)}`
    await page.getByRole('heading', { name: 'Understory' }).click()
    await page.keyboard.press('[')
    await expect(lab.get('scrub-step')).toHaveText(`Step ${kept.at(-1)} of ${STEPS}`)
    await expect(caption).toHaveText(samplesAt(kept.at(-1)))
    await lab.get('kept-previous').click()
    await expect(lab.get('scrub-step')).toHaveText(`Step ${kept.at(-2)} of ${STEPS}`)
    await expect(caption).toHaveText(samplesAt(kept.at(-2)))
    await page.keyboard.press(']')
    await expect(caption).toHaveText(samplesAt(kept.at(-1)))
    // Before the first sample there is none, and the panel says so.
    await slider.press('Home')
    await expect(lab.get('samples')).toContainText('No samples were kept at step 0')

    // End follows again; so does the button, and so does a new run.
    await slider.press('End')
    await expect(lab.get('follow')).toHaveAttribute('aria-pressed', 'true')
    await expect(lab.get('numbers')).not.toHaveAttribute('data-step', /./)
    await slider.press('ArrowLeft')
    await lab.get('follow').click()
    await expect(lab.get('scrub-step')).toHaveText(`Step ${STEPS} of ${STEPS}`)
    await expect(lab.get('entropy-chart').locator('.cursor')).toBeHidden()
    await slider.press('Home')
    await lab.get('train').click()
    await lab.waitForStep(2)
    await expect(lab.get('numbers')).not.toHaveAttribute('data-step', /./)
  },
)

test(
  'what is kept says how much it is, and its budget is remembered',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 300_000)
    await lab.get('kept').locator('summary').click()
    const samples = (await lab.events()).filter(({ type }) => type === 'samples').length
    await expect(lab.get('kept-samples')).toContainText(new RegExp(`Samples${samples}\\d.* KiB`))
    await lab.get('kept-budget').selectOption('4.0 MiB')
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStep(1)
    await lab.get('kept').locator('summary').click()
    await expect(lab.get('kept-budget')).toHaveValue('4194304')
  },
)
