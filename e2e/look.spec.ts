// Looking into a run that is over: nothing was looked at while it trained, and the figures, the
// lens and the tokens come afterwards.
import { violations } from './axe.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { keepEvery } from './stored.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases.0.steps=4&phases.1.steps=2&phases.2.steps=2${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.test_freq=0&probe.rows=8`

/** Looks at the state after a step, and waits until it is shown. */
async function look(lab: LabPage, step: number): Promise<void> {
  await lab.get('look-step').selectOption(`${step}`)
  await lab.get('look').click()
  await expect(lab.get('look-words')).toContainText(
    `Looked at the state after step ${step}. The tokens are those of step ${step + 1}`,
    { timeout: 200_000 },
  )
}

test(
  'a run that is over is looked into at its last state and at a kept one, and keeps what was seen',
  LONG_ONLY,
  async ({ lab, page }) => {
    await keepEvery(page, 4)
    await lab.withoutMoments()
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    const told = async () => (await lab.events()).map(({ type }) => type)
    expect(await told()).not.toContain('observed')

    await lab.show('inside')
    await expect(lab.get('delta')).not.toHaveAttribute('data-step')
    await expect(lab.get('look-step')).toHaveValue('8')
    // The state that reinforcement began with says which layer to train first.
    await lab.get('measure-kept').click()
    await expect(lab.get('suggested')).toContainText('Step 4 is where reinforcement began', {
      timeout: 200_000,
    })
    await look(lab, 8)
    await expect(lab.get('look-filled').getByRole('button')).not.toHaveCount(0)
    expect(await violations(page, '.look-now')).toEqual([])
    for (const figure of ['flow', 'delta', 'cosine', 'heat']) {
      await lab.get(figure).scrollIntoViewIfNeeded()
      await expect(lab.get(figure), figure).toHaveAttribute('data-step', '8')
    }
    await expect(lab.get('lens-summary')).toHaveAttribute('data-step', '8')

    // Its tokens are those of a step that the run has not.
    await lab.show('tokens')
    await expect(lab.get('inspected-look')).toContainText('the state after step 8')
    await expect(lab.get('inspected-step')).toContainText('After step 8')
    await expect(lab.get('stages')).toContainText('After step 8')
    await lab.show('inside')

    // Step 5 is the first of the inner phase: it was taken, and its tokens are seen now.
    await look(lab, 4)
    await lab.get('delta').scrollIntoViewIfNeeded()
    await expect(lab.get('delta')).toHaveAttribute('data-step', '4')
    await lab.show('tokens')
    await expect(lab.get('inspected-step')).toHaveAttribute('data-step', '5')
    await expect(lab.get('stages')).toContainText('Step 5')
    // The run is as it was.
    await expect(lab.get('status')).toHaveAttribute('data-status', 'finished')
    await expect(lab.get('step-count')).toContainText('5')
    expect((await told()).filter((type) => type === 'step')).toHaveLength(9)

    // Its record has what was seen.
    await page.reload()
    await lab.show('runs')
    await lab.get('open-run').click()
    await expect(lab.get('past-run')).toContainText('finished, 8 steps')
    await lab.show('inside')
    await lab.get('delta').scrollIntoViewIfNeeded()
    await expect(lab.get('delta')).toHaveAttribute('data-step', '8')
    await lab.get('checkpoints').locator('summary').click()
    await lab.get('checkpoint').last().getByTestId('look-inside').click()
    await expect(lab.get('look-words')).toContainText('Looked at the state after step 4', {
      timeout: 200_000,
    })
  },
)

test(
  'a response is looked through at one press, while the run rests at another step and when it is over',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK.replace('phases.2.steps=2', 'phases.2.steps=30'))
    await lab.waitForStatus('idle')
    await lab.show('tokens')
    await lab.get('train').click()
    await expect(lab.get('trace-at').locator('option')).toHaveCount(3, { timeout: 200_000 })
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    let pressed: string | null = null
    const lookThrough = async () => {
      await lab.show('tokens')
      await lab.get('trace-at').selectOption({ index: 1 })
      await lab.get('inspector').locator('[data-t]').first().click()
      // What the panel says while it looks is there for a moment.
      const waited = await page.evaluateHandle(() => {
        const words = new Set<string>()
        new MutationObserver(() => {
          const said = document.querySelector('[data-testid="lens-waiting"]')?.textContent
          if (said) words.add(said)
        }).observe(document.body, { childList: true, subtree: true, characterData: true })
        return words
      })
      pressed = await lab.get('inspected-step').getAttribute('data-step')
      await lab.get('look-through').click()
      await expect(lab.get('lens-text').locator('option:checked')).toContainText('(of step')
      await expect(lab.get('lens-grid')).toBeVisible()
      return await waited.evaluate((words) => [...words].join(' '))
    }
    await lookThrough()
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    await lab.show('tokens')
    await lab.get('inspector-order').selectOption('score_worst')
    expect(await lookThrough()).toMatch(/Looking at the kept state of step \d+ …/)
    await expect(lab.get('lens-waiting')).toHaveCount(0)
    // The way back leads to the token that was pressed, and the run has no step more.
    await page.goBack()
    await expect(lab.get('tab-tokens')).toHaveAttribute('aria-selected', 'true')
    await expect(lab.get('inspector').locator('[data-t][tabindex="0"]')).toBeVisible()
    await expect(lab.get('inspected-look')).toHaveCount(0)
    expect(await lab.get('inspected-step').getAttribute('data-step')).toBe(pressed)
  },
)
