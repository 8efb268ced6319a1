// Numbers that break in mid-run: the run goes back to where it was sound, says what broke, and
// continues with smaller steps.
import { expect, type LabPage, LONG_ONLY, QUICK, test } from './lab_page.ts'
import { keepEvery } from './stored.ts'

/** AdamW that forgets how large gradients were and remembers where they pointed: harmless at a rate
 * of next to nothing. */
const reckless = (whose: string) =>
  `&${whose}.optim.lr=0.000004&${whose}.optim.lr_warmup_steps=0&${whose}.optim.betas.0=0.9999&${whose}.optim.betas.1=0`
const LINK =
  `v=1&p=tiny&phases=rl&phases.0.steps=4000&phases.0.adv_estimator=gae&phases.0.target_layer=final${QUICK}` +
  '&model.hidden_size=16&model.num_attention_heads=2&model.num_key_value_heads=1&model.head_dim=8&model.intermediate_size=24' +
  '&rollout.train_batch_size=4&rollout.n=4&actor.ppo_mini_batch_size=2&validation.prompts=8&validation.test_freq=0&probe.rows=8' +
  reckless('actor') +
  reckless('critic')

/** A live field, by hand. */
async function setRate(lab: LabPage, whose: 'actor' | 'critic', rate: string): Promise<void> {
  const field = lab.page.locator(`#field-${whose}-optim-lr`)
  if (!(await field.isVisible()))
    await lab.page
      .locator('summary', { hasText: whose === 'actor' ? /^Actor/ : /^Critic/ })
      .first()
      .click()
  await field.fill(rate)
  await field.blur()
}

const all = async (lab: LabPage, type: string) =>
  (await lab.events()).filter((event) => event.type === type)

test(
  'numbers that break are reported with their evidence, and the run continues from the last sound state at half the learning rate',
  LONG_ONLY,
  async ({ lab, page }) => {
    await keepEvery(page, 4000)
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStep(3)
    // A pause keeps the run.
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    await expect.poll(async () => (await all(lab, 'checkpoint')).length).toBe(1)
    // The page may still show the step before.
    const [kept] = await all(lab, 'checkpoint')
    const sound = kept.type === 'checkpoint' ? kept.step : Number.NaN
    await setRate(lab, 'actor', '0.1')
    await setRate(lab, 'critic', '0.1')
    await expect.poll(async () => (await all(lab, 'steered')).length).toBe(2)
    await lab.get('train').click()

    const card = lab.get('guarded')
    await expect(card).toBeVisible({ timeout: 120_000 })
    await lab.waitForStatus('paused')
    await expect(card.getByRole('listitem')).toHaveCount(3)
    await expect(card.getByRole('listitem').first()).toContainText(/^Step \d+: .*not applied/)
    const [guarded] = await all(lab, 'guarded')
    if (guarded?.type !== 'guarded') throw new Error('not guarded')
    // What was done by hand since then is not done again.
    expect(guarded.step).toBe(sound)
    await expect(card).toContainText(`waits at step ${sound}`)
    await expect(card).toContainText('actor.optim.lr 0.000004 → 0.000002')
    expect(guarded.broken[0].step).toBeGreaterThan(sound)
    expect(guarded.broken.every(({ evidence }) => evidence !== undefined)).toBe(true)
    expect(await lab.number('step-count')).toBe(sound)
    const folder = process.env.SCREENSHOTS
    if (folder) await screenshots(lab, folder)

    const before = (await lab.steps()).length
    await lab.get('go-on-slower').click()
    await expect(card).toHaveCount(0)
    await expect
      .poll(async () => (await lab.steps()).length, { timeout: 60_000 })
      .toBeGreaterThan(before + 5)
    expect((await lab.steps())[before].step).toBe(sound + 1)
    const steered = (await all(lab, 'steered')).slice(2)
    expect(steered).toMatchObject([
      { entry: { step: sound, kind: 'set', path: 'actor.optim.lr' } },
      { entry: { step: sound, kind: 'set', path: 'critic.optim.lr' } },
    ])
    expect(await all(lab, 'guarded')).toHaveLength(1)
    await expect(lab.get('error')).toHaveCount(0)
  },
)

/** For looking at: wide and narrow, light and dark. */
async function screenshots({ page, get }: LabPage, folder: string): Promise<void> {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      await get('guarded').scrollIntoViewIfNeeded()
      await page.screenshot({ path: `${folder}/guarded_${width}_${colorScheme}.png` })
    }
}
