// Presets that begin with a model: the one that comes with the page, and those that a person has to
// open first.
import { expect, LONG_ONLY, test } from './lab_page.ts'

/** One step on few and short rows. */
const SHORT =
  'v=1&p=countdown-pretrained&rollout.train_batch_size=2&rollout.n=2&actor.ppo_mini_batch_size=2&phases.0.steps=1&validation.test_freq=0&validation.prompts=2&probe.rows=2'

// In newcomer.spec.ts the first run begins with a shipped model, too.
test(
  'Train fetches the shipped model from the host of the page and begins with it',
  LONG_ONLY,
  async ({ lab, page }) => {
    const asked: string[] = []
    page.context().on('request', (request) => {
      if (request.url().includes('/models/')) asked.push(new URL(request.url()).pathname)
    })
    await lab.open(SHORT)
    await expect(lab.get('missing-files')).toBeHidden()
    await lab.get('train').click()
    await lab.waitForStep(1)
    expect(asked.some((path) => path.endsWith('/models/arithmetic/model.safetensors'))).toBe(true)
    // Random weights write no sum that is right, nor end where they should.
    const [{ metrics }] = (await lab.steps()).slice(-1)
    expect(metrics['critic/score/mean']).toBeGreaterThan(0.2)
  },
)

test(
  'a preset of a real model says which one to open, and Train does not begin',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    await lab.get('preset').selectOption('smollm2-135m-countdown')
    const missing = lab.get('missing-files')
    await expect(missing).toContainText('HuggingFaceTB/SmolLM2-135M-Instruct, which is not on this')
    await lab.get('intro').getByText('What you should see').click()
    await expect(lab.get('intro')).toContainText('Not run on real weights, and not on a GPU')
    await lab.get('train').click()
    await expect(missing).toBeVisible()
    expect(await lab.steps()).toEqual([])
    await missing.getByRole('button', { name: 'Open a model …' }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    await page.keyboard.press('Escape')
    await lab.get('preset').selectOption('tiny')
    await expect(missing).toBeHidden()
  },
)
