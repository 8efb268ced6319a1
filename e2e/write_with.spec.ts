// The model of a run is opened to write with, and writes what the run itself answered.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { keepEvery, waitForRecords } from './stored.ts'
import { test } from './warm_page.ts'
import { answeredAt, greedy } from './writing.ts'

const LINK = `v=1&p=tiny&phases.0.steps=32&phases.1.steps=2&phases.2.steps=2${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=4`

test(
  'the model of a run is opened from its end, its tokens and each kept state',
  LONG_ONLY,
  async ({ lab, page }) => {
    test.setTimeout(300_000)
    await keepEvery(page, 4)
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    const answered = (step: number) => answeredAt(lab, step)
    expect((await answered(32)).length).toBeGreaterThan(1)

    await lab.get('end-card').getByTestId('write-with').click()
    await expect(page.getByRole('dialog')).toContainText(', step 36')
    // The first held-out problem stands there.
    await expect(lab.get('chat-text')).toHaveValue((await answered(36))[0].input)
    for (const { input, output } of (await answered(36)).slice(0, 3))
      expect(await greedy(lab, input), input).toBe(output)
    // What is wrong with a text goes with it.
    await lab.get('chat-text').fill('~')
    await lab.get('chat-send').click()
    await expect(lab.get('model-problem')).toBeVisible()
    await lab.get('chat-text').fill('')
    await expect(lab.get('model-problem')).toHaveCount(0)
    await page.keyboard.press('Escape')

    await lab.show('tokens')
    await expect(lab.get('inspector').getByTestId('write-with')).toBeVisible()

    // A state that was kept on the way, of a run of the list.
    await waitForRecords(page, 'finished 36')
    const before = (await answered(32)).slice(0, 2)
    await page.reload()
    await lab.show('runs')
    await lab.get('open-run').click()
    await lab.get('checkpoints').locator('summary').click()
    await page.locator('[data-testid=checkpoint][data-step="32"] [data-testid=write-with]').click()
    await expect(page.getByRole('dialog')).toContainText(', step 32')
    await expect(lab.get('chat-send')).toBeEnabled({ timeout: 60_000 })
    for (const { input, output } of before) expect(await greedy(lab, input), input).toBe(output)
  },
)
