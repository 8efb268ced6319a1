// A person teaches: twelve pairs answered on the page, and the reward model's accuracy appears.
import type { Page } from '@playwright/test'
import { expectSound } from './axe.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** The preset with few steps in every phase. Neither response has to be any good for one to be
 * shorter. */
const LINK =
  `v=1&p=rlhf-clicks&phases.0.steps=12&phases.1.steps=6&phases.2.steps=3${QUICK}` +
  '&phases.1.pairs.min_pairs=12&validation.test_freq=0'

/** The shorter response; of two of one length, the smaller number. */
async function better(page: Page): Promise<'a' | 'b'> {
  const answers = page.getByTestId('preferences').locator('.answer .response')
  const [a, b] = await answers.allInnerTexts()
  return a.length < b.length || (a.length === b.length && a < b) ? 'a' : 'b'
}

/** How many verdicts the one checkpoint holds that there is. */
const verdictsKept = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory()
    const checkpoints = await origin.getDirectoryHandle('checkpoints')
    for await (const run of checkpoints.values())
      if (run instanceof FileSystemDirectoryHandle)
        for await (const file of run.values())
          if (file instanceof FileSystemFileHandle && file.name.endsWith('.safetensors')) {
            const head = await (await file.getFile()).slice(0, 100_000).text()
            return head.split(/"choice\\?"/).length - 1
          }
    return 0
  })

async function given(lab: LabPage): Promise<number> {
  const asked = (await lab.events()).findLast((event) => event.type === 'pairs')
  return asked?.type === 'pairs' ? asked.given : Number.NaN
}

test(
  'twelve pairs are answered by mouse and keys, the reward model learns from them, and the link repeats it',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await expect(lab.get('preferences')).toContainText('two by two')
    await lab.get('train').click()
    await lab.waitForStatus('waiting', 200_000)
    await expect(lab.get('status')).toContainText('waiting for verdicts')
    await expect(lab.get('phase-name')).toContainText('reward model')
    await expect(lab.get('prefer-progress')).toHaveText('0 of 12 verdicts; then training begins.')
    await expect(lab.get('next-phase')).toBeDisabled()
    await expect(lab.get('prefer-undo')).toBeDisabled()

    // A click, a skip, and both taken back.
    await lab.get('prefer-a').click()
    await expect(lab.get('prefer-progress')).toContainText('1 of 12')
    await lab.get('prefer-skip').click()
    await page.keyboard.press('z')
    await lab.get('prefer-undo').click()
    await expect(lab.get('prefer-progress')).toContainText('0 of 12')

    for (let n = 0; n < 12; n++) {
      await expect.poll(() => given(lab)).toBe(n)
      const key = await better(page)
      if (n % 2 === 0) await page.keyboard.press(key)
      else await lab.get(key === 'a' ? 'prefer-a' : 'prefer-b').click()
    }
    await lab.waitForStatus('finished', 200_000)

    // What it learned, in a number and in examples that it was not trained on.
    await expect(lab.get('reward-model-accuracy')).toHaveText(/^\d+(\.\d)?\s%$/)
    await expect(lab.get('preferences')).toContainText(
      /of \d held-out pairs? with [1-3] prompts? that no training pair has/,
    )
    const steps = await lab.steps()
    const taught = steps.filter(({ metrics }) => 'reward_model/loss' in metrics)
    expect(taught).toHaveLength(6)
    // Every fourth prompt is held out with all its pairs: three pairs, unless two of twelve sums
    // are the same.
    const heldOut = taught[0].metrics['reward_model/held_out_pairs']
    expect(heldOut + taught[0].metrics['reward_model/pairs']).toBe(12)
    expect(heldOut).toBeGreaterThan(0)
    expect(taught[0].metrics['reward_model/held_out_prompts']).toBeLessThanOrEqual(heldOut)
    await expect(lab.get('preferences').getByRole('row')).toHaveCount(heldOut + 1)
    expect(taught[5].metrics['reward_model/loss']).toBeLessThan(
      taught[0].metrics['reward_model/loss'],
    )
    // Reinforcement is rewarded by it: scores that are neither 0 nor 1.
    const rewarded = steps.filter(({ metrics }) => 'task/score/mean' in metrics)
    expect(rewarded).toHaveLength(3)
    expect(rewarded.every(({ metrics }) => metrics['critic/score/max'] % 1 !== 0)).toBe(true)
    // Samples of steps that follow each other quickly are left out, but for the last.
    const columns = lab.get('samples').getByRole('columnheader', { name: 'rewarded' })
    await expect(columns.first()).toBeVisible()

    // The verdicts go into the settings and the address: the same run again, without a question.
    await lab.get('keep-verdicts').click()
    await expect.poll(() => page.url()).toMatch(/phases\.1\.pairs\.verdicts=[ab]{12}(&|$)/)
    await expect(lab.get('recorded-verdicts')).toContainText('12 recorded verdicts')
    await lab.get('train').click()
    await expect.poll(async () => (await lab.steps()).at(-1)?.run).not.toBe(steps[0].run)
    await lab.waitForStatus('finished', 200_000)
    const losses = (all: typeof steps) => all.map(({ metrics }) => metrics['reward_model/loss'])
    const again = await lab.steps()
    expect(losses(again)).toEqual(losses(steps))
    expect(again.at(-1)?.metrics['actor/grad_norm']).toBe(steps.at(-1)?.metrics['actor/grad_norm'])
    expect(
      (await lab.events()).filter((e) => e.type === 'status' && e.status === 'waiting'),
    ).toHaveLength(1)

    // Without them, the run asks again.
    await lab.get('ask-again').click()
    await expect(lab.get('recorded-verdicts')).toHaveCount(0)
    await expect.poll(() => page.url()).not.toContain('verdicts')
  },
)

test(
  'verdicts in quick succession outlive a reload, on a narrow screen where the question comes first',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await lab.open(LINK.replace('phases.0.steps=12', 'phases.0.steps=2'))
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('waiting', 200_000)
    await expect(lab.get('prefer-undo')).toBeInViewport()
    await expectSound(lab)
    for (const [n, choice] of ['prefer-a', 'prefer-b', 'prefer-a'].entries()) {
      await lab.get(choice).click()
      await expect.poll(() => given(lab)).toBe(n + 1)
    }
    // Nobody says anything more; within a second what was said is kept all the same.
    await expect.poll(() => verdictsKept(page)).toBe(3)
    await page.reload()
    await lab.get('go-on').click()
    await lab.waitForStatus('waiting', 200_000)
    await expect(lab.get('prefer-progress')).toContainText('3 of 12')
    await lab.get('reset').click()
  },
)
