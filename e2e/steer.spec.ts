// A living run, steered by hand: phases chosen while it runs, live settings, and the link that does
// it all again.
import { expect, type LabPage, LONG_ONLY, QUICK, type StepEvent } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Small steps, and more of them than the hands need. */
const LINK =
  `v=1&p=tiny&phases=sft,rl&phases.0.steps=6&phases.1.steps=40&phases.1.adv_estimator=gae&phases.1.target_layer=final${QUICK}` +
  '&rollout.train_batch_size=16&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=6'

const numbersOf = (steps: readonly StepEvent[]) =>
  steps.map(({ step, phase, phase_step, metrics }) => ({
    step,
    phase,
    phase_step,
    metrics: Object.fromEntries(
      Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
    ),
  }))

/** One step, from idle or from a pause. */
async function stepTo(lab: LabPage, step: number): Promise<void> {
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText(String(step), { timeout: 120_000 })
  await lab.waitForStatus('paused')
}

async function insertNow(lab: LabPage, kind: string, steps: number, layer?: number) {
  await lab.get('add-phase').click()
  await lab.get('add-phase-kind').selectOption(kind)
  if (layer !== undefined) await lab.get('add-phase-layer').selectOption(String(layer))
  await lab.get('add-phase-steps').fill(String(steps))
  await lab.get('insert-now').click()
  // Its panel is done.
  await expect(lab.get('add-phases')).toBeHidden()
}

const steeredCount = async (lab: LabPage) =>
  (await lab.events()).filter(({ type }) => type === 'steered').length

test(
  'PPO, GRPO and BuPO by hand in one run; its link gives the same numbers',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await stepTo(lab, 1)

    // The warm start ends by hand; PPO learns for two steps.
    await lab.get('next-phase').click()
    await stepTo(lab, 2)
    await stepTo(lab, 3)
    await expect(lab.get('phase-name')).toContainText('② whole model')

    // GRPO begins now, with its rows in groups; then the policy of layer 1, then the learning rate.
    await insertNow(lab, 'grpo', 9)
    await expect.poll(() => steeredCount(lab)).toBe(2)
    await stepTo(lab, 4)
    await stepTo(lab, 5)
    await insertNow(lab, 'bupo', 2, 1)
    await expect.poll(() => steeredCount(lab)).toBe(3)
    await stepTo(lab, 6)
    await expect(lab.get('phase-name')).toContainText('④ layer 1')
    await expect(lab.get('phases').getByRole('listitem')).toHaveCount(5 - 1)

    // A live field takes effect at the next step and is drawn; nothing asks for a restart.
    if (!(await page.locator('#field-actor-entropy_coeff').isVisible()))
      await page.locator('summary', { hasText: /^Actor/ }).click()
    const bonus = page.locator('#field-actor-entropy_coeff')
    await bonus.fill('0.01')
    await bonus.blur()
    await expect.poll(() => steeredCount(lab)).toBe(4)
    await expect(lab.get('pending')).toHaveCount(0)
    await expect(lab.get('field-actor-entropy_coeff-over-run').first()).toContainText(
      '0, then 0.01 after step 6',
    )
    await lab.get('repeat-phase').click()
    await expect.poll(() => steeredCount(lab)).toBe(5)
    await lab.get('train').click()
    await lab.waitForStatus('finished', 120_000)
    await expect(page.locator('#reward-chart .edit-mark')).toContainText(/entropy_coeff 0\.01|✎|…/)
    const switches = (await lab.events()).filter((event) => event.type === 'phase')
    expect(switches.map(({ step, phase, reason }) => [step, phase, reason])).toEqual([
      [0, 0, 'start'],
      [1, 1, 'next_phase'],
      [3, 2, 'insert_phase'],
      [5, 3, 'insert_phase'],
      [7, 4, 'steps'],
    ])
    await lab.get('record').locator('summary').click()
    await expect(lab.get('record')).toContainText('inserted by hand')
    await expect(lab.get('record')).toContainText('entropy_coeff 0.01')
    // As many as the link says.
    await expect(lab.get('record')).toContainText('5 phases, 5 changes by hand')

    await lab.get('copy-link').click()
    await expect(lab.get('toast')).toContainText('what was done to it (5)')
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const sent = numbersOf(await lab.steps())
    expect(sent.length).toBe(10)
    // The address bar holds the same, so a reload repeats the run.
    await expect.poll(() => new URL(page.url()).search).toBe(new URL(link).search)

    // On a page that is loaded again; link.spec.ts opens a link in another browser profile.
    await lab.open(new URL(link).search.slice(1))
    await lab.waitForStatus('idle')
    await expect(lab.get('record')).toContainText('5 changes while it runs')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 120_000)
    const got = numbersOf(await lab.steps())
    expect(got).toEqual(sent)
  },
)

test('the line of phases: a boundary is dragged and moved by keys, phases are added, moved and removed', async ({
  lab,
  page,
}) => {
  await lab.open(`v=1&p=tiny${QUICK}`)
  await lab.waitForStatus('idle')
  // Nothing is trained beside a field that does not take what is typed.
  await page.locator('#field-actor-optim-lr').first().fill('999')
  await expect(lab.get('train')).toBeDisabled()
  await expect(lab.get('wrong-fields')).toContainText('Learning rate cannot be 999')
  await lab.get('reset').click()
  await expect(page.locator('#field-actor-optim-lr').first()).not.toHaveValue('999')
  await expect(lab.get('train')).toBeEnabled()
  const boundary = lab.get('phase-boundary-0')
  await expect(boundary).toHaveAttribute('aria-valuenow', '66')
  await expect(lab.get('undo')).toBeVisible()
  // Waits until the page has stopped moving it.
  await boundary.hover()
  const box = await boundary.boundingBox()
  if (!box) throw new Error('no boundary')
  const y = box.y + box.height / 3
  await page.mouse.move(box.x + box.width / 2, y)
  await page.mouse.down()
  await page.mouse.move(box.x - 57, y, { steps: 5 })
  await expect(boundary.locator('output')).toContainText('steps')
  await page.mouse.up()
  const dragged = Number(await boundary.getAttribute('aria-valuenow'))
  expect(dragged).toBeLessThan(66)
  expect(dragged).toBeGreaterThan(40)

  await boundary.focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  await expect(boundary).toHaveAttribute('aria-valuenow', String(dragged + 11))
  await expect(lab.get('phases-said')).toHaveText(`Phase 1, warm start: ${dragged + 11} steps`)
  await expect.poll(() => new URL(page.url()).search).toContain(`phases.0.steps=${dragged + 11}`)

  const items = lab.get('phases').getByRole('listitem')
  const inner = items.nth(1).getByRole('button')
  await inner.focus()
  await page.keyboard.press('Alt+ArrowRight')
  await expect(items.nth(2)).toContainText('layer 2')
  await expect(lab.get('phases-said')).toHaveText('layer 2 is now phase 3 of 3')
  await expect(items.nth(2).getByRole('button')).toBeFocused()
  await page.keyboard.press('Delete')
  await expect(items).toHaveCount(2)

  // Another kind keeps the number of steps that was typed.
  await lab.get('add-phase').click()
  await lab.get('add-phase-steps').fill('7')
  await lab.get('add-phase-kind').selectOption('gae')
  await expect(lab.get('add-phase-steps')).toHaveValue('7')
  await lab.get('append-phase').click()
  await expect(items).toHaveCount(3)
  await expect(items.nth(2)).toContainText('GAE')
  await expect(lab.get('phases-said')).toContainText('added at the end')
  await expect(lab.get('phases-said')).toBeEmpty()
})

test(
  'a setting that cannot change under way shows the difference and offers a restart',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await stepTo(lab, 1)
    await page.locator('summary', { hasText: /^Rollout(?! c)/ }).click()
    const prompts = page.locator('#field-rollout-train_batch_size')
    await prompts.fill('32')
    await prompts.blur()
    const box = lab.get('pending')
    await expect(box).toContainText('Restart needed')
    await expect(box.locator('[data-path="rollout.train_batch_size"]')).toHaveText(
      /Prompts per step\s*16 → 32/,
    )
    await lab.get('discard').click()
    await expect(box).toHaveCount(0)
    await expect(prompts).toHaveValue('16')

    await prompts.fill('32')
    await prompts.blur()
    await lab.get('apply').click()
    await lab.waitForStep(1)
    await expect(box).toHaveCount(0)
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    await expect.poll(() => new URL(page.url()).search).not.toContain('train_batch_size=16')
  },
)

test(
  'what is done to a running run is shown where it is done, and what the next run leaves out',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await stepTo(lab, 1)
    const items = lab.get('phases').getByRole('listitem')
    await lab.get('next-phase').click()
    await expect(items.first()).toContainText('ends here')
    await expect(lab.get('next-phase')).toBeDisabled()
    await stepTo(lab, 2)
    await expect(items.first()).toContainText('1 of 6 steps, ended by hand')

    // Numbers are typed as they come, and what is none is said beside them.
    await lab.get('add-phase').click()
    const steps = lab.get('add-phase-steps')
    await steps.fill('')
    await steps.pressSequentially('0')
    await expect(lab.get('add-phase-problem')).toHaveText('A phase has at least 1 step.')
    for (const way of ['insert-now', 'append-phase']) await expect(lab.get(way)).toBeDisabled()
    // It goes with Escape, and with the tab that it was opened on.
    await page.keyboard.press('Escape')
    await expect(lab.get('add-phases')).toHaveCount(0)
    await expect(lab.get('add-phase')).toBeFocused()
    await lab.get('add-phase').click()
    await lab.get('tab-runs').click()
    await expect(lab.get('add-phases')).toHaveCount(0)
    await lab.get('tab-learn').click()
    await lab.get('add-phase').click()
    await steps.fill('')
    await steps.pressSequentially('5')
    await expect(lab.get('add-phases').getByRole('alert')).toHaveCount(0)
    await lab.get('append-phase').click()
    await expect(items).toHaveCount(3)
    await expect(items.nth(2)).toContainText('5 steps')

    // The same field twice after one step: one entry, one mark, whole words under the pointer.
    await page.locator('summary', { hasText: /^Actor/ }).click()
    const lr = page.locator('#field-actor-optim-lr')
    for (const [value, count] of [
      ['0.0005', 3],
      ['0.0007', 4],
    ] as const) {
      await lr.fill(value)
      await lr.blur()
      await expect.poll(() => steeredCount(lab)).toBe(count)
    }
    await stepTo(lab, 3)
    await expect(page.locator('#reward-chart .edit-mark title')).toHaveText('added PPO, lr 0.0007')
    expect(new URL(page.url()).search).not.toContain('0.0005')
    const plot = page.locator('#reward-chart .plot-area')
    await plot.scrollIntoViewIfNeeded()
    const mark = await page.locator('#reward-chart .edit-mark').boundingBox()
    const area = await plot.boundingBox()
    if (!mark || !area) throw new Error('no mark')
    // Above the plot, where no line crosses its words, and below the names of phases.
    expect(mark.y + mark.height).toBeLessThanOrEqual(area.y)
    expect(mark.y).toBeGreaterThan(area.y - 18)
    await page.mouse.move(mark.x - 4, area.y + area.height / 2)
    await expect(plot).toHaveAttribute('title', 'after step 2: added PPO, lr 0.0007')

    // A field that cannot follow says so itself.
    await page.locator('summary', { hasText: /^Rollout(?! c)/ }).click()
    const prompts = page.locator('#field-rollout-train_batch_size')
    await prompts.fill('32')
    await prompts.blur()
    const field = page.locator('.field', { has: prompts })
    await expect(field).toContainText('needs restart')
    await expect(lab.get('restart-leaves-out')).toContainText('3 changes')
    await lab.get('discard').click()
    await expect(field).not.toContainText('needs restart')

    // The end of the phase at work is dragged while steps continue; it never ends before where the
    // run is.
    await lab.get('train').click()
    const boundary = lab.get('phase-boundary-1')
    const box = await boundary.boundingBox()
    if (!box) throw new Error('no boundary')
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width / 2, y)
    await page.mouse.down()
    await page.mouse.move(0, y, { steps: 5 })
    await page.mouse.up()
    await lab.waitForStatus('finished', 120_000)
    const switches = (await lab.events()).filter((event) => event.type === 'phase')
    expect(switches.map(({ phase }) => phase)).toEqual([0, 1, 2])
    expect(switches[2].step).toBeLessThan(30)
    const taken = switches[2].step - switches[1].step
    await expect(items.nth(1)).toContainText(new RegExp(`${taken} (of ${taken}|steps)`))

    await expect(lab.get('steering-left-out')).toHaveCount(0)
    await boundary.focus()
    await page.keyboard.press('ArrowRight')
    await expect(lab.get('steering-left-out')).toContainText('does not make the 4 changes')
    await page.keyboard.press('Control+z')
    await expect(lab.get('steering-left-out')).toHaveCount(0)
  },
)
