// The model of a run is opened to write with, and writes what the run itself answered.
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { keepEvery, waitForRecords } from './stored.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases.0.steps=32&phases.1.steps=2&phases.2.steps=2${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=4`

/** What the open model writes to a text, with no chance in it. */
async function greedy(lab: LabPage, text: string): Promise<string> {
  await lab.get('chat-temperature').fill('0')
  await lab.get('chat-text').fill(text)
  await lab.get('chat-send').click()
  await expect(lab.get('chat-stop')).toBeHidden({ timeout: 60_000 })
  // With the end token, if it came to an end.
  const tokens = await lab.get('chat-parts').getByRole('button').allInnerTexts()
  return tokens.filter((token) => token !== '∎').join('')
}

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
    const validations = (await lab.events()).flatMap((event) =>
      event.type === 'generations' ? [event] : [],
    )
    const answered = (step: number) =>
      validations
        .find((event) => event.step === step)
        ?.generations.filter(({ do_sample }) => do_sample !== true) ?? []
    expect(answered(32).length).toBeGreaterThan(1)

    await lab.get('end-card').getByTestId('write-with').click()
    await expect(page.getByRole('dialog')).toContainText(', step 36')
    // The first held-out problem stands there.
    await expect(lab.get('chat-text')).toHaveValue(answered(36)[0].input)
    for (const { input, output } of answered(36).slice(0, 3))
      expect(await greedy(lab, input), input).toBe(output)
    await page.keyboard.press('Escape')

    await lab.show('tokens')
    await expect(lab.get('inspector').getByTestId('write-with')).toBeVisible()

    // A state that was kept on the way, of a run of the list.
    await waitForRecords(page, 'finished 36')
    await page.reload()
    await lab.show('runs')
    await lab.get('open-run').click()
    await lab.get('checkpoints').locator('summary').click()
    await page.locator('[data-testid=checkpoint][data-step="32"] [data-testid=write-with]').click()
    await expect(page.getByRole('dialog')).toContainText(', step 32')
    await expect(lab.get('chat-send')).toBeEnabled({ timeout: 60_000 })
    for (const { input, output } of answered(32).slice(0, 2))
      expect(await greedy(lab, input), input).toBe(output)
  },
)
