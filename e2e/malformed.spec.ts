// A link is a stranger's text: whatever it says, the page explains what it could not use, and works.
import { expect, test } from './lab_page.ts'

const MARKUP = '<img src=x onerror="window.is_owned=true">'

/** A link, and what its reader is told. */
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
  ['a very long query', `v=1&p=tiny&name=${'x'.repeat(9_000)}`, /long/],
]

for (const [name, link, told] of HOSTILE)
  test(`a link with ${name} is explained`, async ({ lab, page }) => {
    await lab.open(link)
    await expect(lab.get('notices')).toContainText(told)
    await lab.waitForStatus('idle')
    await expect(lab.get('train')).toBeEnabled()
    await expect(lab.get('preset')).toBeEnabled()
    expect(await page.evaluate(() => 'is_owned' in window || 'is_owned' in {})).toBe(false)
  })

test('after a hostile link the page still trains', async ({ lab }) => {
  await lab.open('v=1&p=tiny&phases.0.steps=-5&phases.9.steps=3&phases.0.kind=evil&%00=%00')
  await expect(lab.get('notices')).toContainText('phases.9.steps')
  await lab.waitForStatus('idle')
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText('1', { timeout: 120_000 })
})
