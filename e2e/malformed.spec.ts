// A link is a stranger's text: whatever it says, the page explains what it could not use, and
// works.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Each costs a page: every fourth one, and all where LONG_TESTS is set. */
const tried = <T>(cases: readonly T[]) =>
  cases.filter((_, i) => process.env.LONG_TESTS || i % 4 === 0)

const MARKUP = '<img src=x onerror="window.is_owned=true">'

/** A link, and what the page says of it. The links themselves are tested without a page
 * (src/document/links). */
const HOSTILE: readonly (readonly [name: string, link: string, told: RegExp])[] = [
  ['an unknown preset', 'v=1&p=chess', /no preset/],
  ['a newer version', 'v=99&p=tiny', /newer version/],
  ['a number out of range', 'v=1&p=tiny&actor.clip_ratio_low=1e308', /clip_ratio_low/],
  ['a word for a number', 'v=1&p=tiny&seed=three', /seed/],
  ['not a number', 'v=1&p=tiny&actor.optim.lr=NaN', /lr/],
  ['a field that does not exist', 'v=1&p=tiny&model.weights_url=https://x.example/', /weights_url/],
  ['a prototype', 'v=1&p=tiny&__proto__.is_owned=1&constructor.prototype.is_owned=1', /__proto__/],
  ['broken percent signs', 'v=1&p=tiny&name=%E0%A4%A', /name/],
  ['markup', `v=1&p=${encodeURIComponent(MARKUP)}&seed=${encodeURIComponent(MARKUP)}`, /img/],
  ['a model too large', 'v=1&p=tiny&model.hidden_size=99999999', /hidden_size/],
  [
    'a layer that the model lacks',
    'v=1&p=tiny&phases.1.target_layer=9',
    /target_layer.*of the model, 1 to 2; got 9/,
  ],
  ['GRPO without groups', 'v=1&p=tiny&rollout.n=1', /at least 2 responses per prompt/],
  ['a very long query', `v=1&p=tiny&name=${'x'.repeat(9_000)}`, /long/],
]

test('whatever a link says, what could not be used of it is explained, and the page works', async ({
  lab,
  page,
}) => {
  for (const [name, link, told] of tried(HOSTILE))
    await test.step(name, async () => {
      await lab.open(link)
      await expect(lab.get('notices'), name).toContainText(told)
      await lab.waitForStatus('idle')
      await expect(lab.get('train')).toBeEnabled()
      await expect(lab.get('preset')).toBeEnabled()
      expect(await page.evaluate(() => 'is_owned' in window || 'is_owned' in {}), name).toBe(false)
    })
})

test('after a hostile link the page still trains', LONG_ONLY, async ({ lab }) => {
  await lab.open(`v=1&p=tiny${QUICK}&phases.0.steps=-5&phases.9.steps=3&phases.0.kind=evil&%00=%00`)
  await expect(lab.get('notices')).toContainText('phases.9.steps')
  await lab.waitForStatus('idle')
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText('1', { timeout: 120_000 })
})

/** Settings that do not go together, and the reason below the field. */
const REFUSED: readonly (readonly [
  name: string,
  link: string,
  path: string,
  value: string,
  reason: RegExp,
])[] = [
  ['GRPO with single responses', 'v=1&p=tiny-grpo', 'rollout.n', '1', /at least 2 .*GRPO/],
  [
    'dynamic sampling of single responses',
    'v=1&p=tiny-reinforce',
    'algorithm.filter_groups.enable',
    'on',
    /at least 2 responses per prompt.*n = 1/,
  ],
  [
    'a frozen layer that the model lacks',
    'v=1&p=tiny',
    'phases.1.freeze.layers',
    '7',
    /layers of the model, 1 to 3; got 7/,
  ],
  [
    'a critic that would be alone to the end',
    'v=1&p=tiny-ppo',
    'critic.critic_warmup',
    '9000',
    /expected at most \d+, the steps with a critic .* the policy would never learn; got 9000/,
  ],
  [
    'a stop by an accuracy that nothing measures',
    'v=1&p=tiny&validation.test_freq=null',
    'phases.1.stop.accuracy',
    '0.5',
    /expected null \(off\), or an evaluation .* there are none; got 0.5/,
  ],
  [
    'fewer layers than one that is trained',
    'v=1&p=tiny',
    'model.num_hidden_layers',
    '1',
    /Trained policy: expected “whole model”, because a model of 1 layer has no inner one; got 2/,
  ],
]

test('the form refuses settings that do not go together and says why', async ({ lab, page }) => {
  for (const [name, link, path, value, reason] of tried(REFUSED))
    await test.step(name, async () => {
      await lab.open(link)
      await lab.waitForStatus('idle')
      await lab.get('settings-search').waitFor()
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('.settings details'))
          fold.toggleAttribute('open', true)
      })
      const field = lab.get(`field-${path.replaceAll('.', '-')}`)
      const address = page.url()
      if (value === 'on') await field.click()
      else await field.fill(value)
      const own = page.locator('.field').filter({ has: field })
      await expect(own.getByRole('alert'), name).toContainText(reason)
      await expect(field).toHaveAttribute('aria-invalid', 'true')
      // Nothing has changed, and the run that would begin is the one before.
      await own.getByRole('button', { name: /^keep / }).click()
      await expect(own.getByRole('alert')).toHaveCount(0)
      expect(page.url(), name).toBe(address)
      await expect(lab.get('train')).toBeEnabled()
    })
})

test('single responses are refused to GRPO and not to PPO', LONG_ONLY, async ({ lab, page }) => {
  await lab.open('v=1&p=tiny-reinforce')
  await lab.waitForStatus('idle')
  await page.getByText('Phase 2', { exact: true }).click()
  const estimator = lab.get('field-phases-1-adv_estimator')
  const alert = page.locator('.field').filter({ has: estimator }).getByRole('alert')
  await estimator.selectOption('grpo')
  await expect(alert).toContainText(/Responses per prompt: expected at least 2 .*GRPO/)
  await expect(estimator).toHaveValue('reinforce_plus_plus')
  await estimator.selectOption('gae')
  await expect(alert).toHaveCount(0)
  await expect(estimator).toHaveValue('gae')
})
