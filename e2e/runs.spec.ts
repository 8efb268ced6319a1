// Runs are kept, found again, opened and compared.
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from '@playwright/test'
import { expectClean } from './axe.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { breakRecord, waitForCheckpoint, waitForRecords } from './stored.ts'
import { test } from './warm_page.ts'

/** The tiny preset, as short as its three phases can be. */
const SHORT = `v=1&p=tiny&phases.0.steps=3&phases.1.steps=1&phases.2.steps=3&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`
const STEPS = 7
const FINISHED = `finished ${STEPS}`

/** Long enough to overflow the page where nothing cuts it. */
const NAMED = `Learning rate times ten ${'x'.repeat(50)}`

const rowOf = (lab: LabPage, name: string): Locator =>
  lab.get('run').filter({ has: lab.page.getByRole('button', { name, exact: true }) })

async function train(lab: LabPage): Promise<void> {
  await lab.get('train').click()
  await expect(lab.get('step-count')).toHaveText(`${STEPS}`, { timeout: 200_000 })
  await lab.waitForStatus('finished', 200_000)
}

/** What a cell of the numbers above says while a run is shown. */
const shownNumbers = (lab: LabPage): Promise<string[]> =>
  Promise.all(
    ['step-count', 'reward-value', 'accuracy-value', 'entropy-value'].map((id) =>
      lab.get(id).innerText(),
    ),
  )

async function setLearningRate(page: Page, value: string): Promise<void> {
  await page.evaluate((query) => history.replaceState(null, '', query), `?${SHORT}`)
  const url = new URL(page.url())
  url.searchParams.set('actor.optim.lr', value)
  url.searchParams.set('name', NAMED)
  await page.goto(url.href)
}

test('a run is kept, renamed, deleted and brought back, and opened with its own numbers', async ({
  lab,
  page,
}) => {
  await lab.open(SHORT)
  await train(lab)
  await waitForRecords(page, FINISHED)
  const numbers = await shownNumbers(lab)
  await page.reload()
  await lab.waitForStatus('idle')
  await lab.get('tab-runs').click()
  await expect(lab.get('run')).toHaveCount(1)
  await lab.get('edit-run').click()
  await lab.get('run-name').fill('first one')
  await lab.get('run-notes').fill('too short?')
  await lab.get('edit-run').click()
  await lab.get('runs-search').fill('too long')
  await expect(lab.get('run')).toHaveCount(0)
  await lab.get('runs-search').fill('too short')
  await expect(rowOf(lab, 'first one')).toContainText('finished')
  await lab.get('runs-search').fill('')
  // Beside the settings what can be done to a run does not lie on its scores.
  const size = page.viewportSize()
  await page.setViewportSize({ width: 1000, height: 800 })
  const covered = await rowOf(lab, 'first one').evaluate((row) => {
    const tools = row.querySelector('.run-tools')?.getBoundingClientRect()
    const scores = row.querySelectorAll('td.number:not(.run-more)')
    return [...scores].filter(
      (score) => !tools || score.getBoundingClientRect().right > tools.left + 1,
    ).length
  })
  expect(covered).toBe(0)
  for (const width of [900, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    const hidden = await page
      .locator('.runs-scroll')
      .evaluate((table) => table.scrollWidth - table.clientWidth)
    expect(hidden, `at ${width}`).toBe(0)
  }
  if (size) await page.setViewportSize(size)
  await lab.get('tick').check()
  await lab.get('delete-run').click()
  await expect(lab.get('run')).toHaveCount(0)
  await expect(lab.get('deleted')).toContainText('“first one” deleted.')
  // What is pressed next is at hand for whoever has no mouse.
  await expect(lab.get('undo-delete')).toBeFocused()
  await lab.get('undo-delete').click()
  await expect(lab.get('tick')).toBeChecked()
  await lab.get('open-run').click()
  await expect(lab.get('past-run')).toContainText('Past run “first one”, read-only')
  await expect(lab.get('back-to-run')).toBeFocused()
  // The line of steps has the width of the bar, which is no higher for the run's name.
  await page.setViewportSize({ width: 1440, height: 900 })
  const widthOf = async (part: string) => (await page.locator(part).boundingBox())?.width ?? 0
  expect(await widthOf('.axis-track')).toBeGreaterThan(0.6 * (await widthOf('.work')))
  expect((await page.locator('.work').boundingBox())?.height).toBeLessThanOrEqual(96)
  if (size) await page.setViewportSize(size)
  await expect(lab.get('train')).toBeDisabled()
  await expect.poll(() => shownNumbers(lab)).toEqual(numbers)
  await lab.get('back-to-run').click()
  await expect(lab.get('past-run')).toHaveCount(0)
})

test(
  'runs are listed, kept, renamed, deleted and brought back, opened and compared',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await train(lab)
    await waitForRecords(page, FINISHED)
    const firstNumbers = await shownNumbers(lab)

    // The second run has another learning rate; the first one is there after a reload.
    await setLearningRate(page, '0.01')
    await lab.waitForStatus('idle')
    await lab.get('tab-runs').click()
    await expect(lab.get('run')).toHaveCount(1)
    await lab.get('baseline').click()
    await train(lab)
    await expect(lab.get('run')).toHaveCount(2)

    // Names: the second run is called as its experiment is, and no name widens the page.
    const second = rowOf(lab, NAMED)
    await expect(second).toHaveCount(1)
    await expect(second).toContainText('current run')
    await expect(second).toContainText('finished')
    await expect(second).toContainText(`${STEPS}`)
    await waitForRecords(page, FINISHED, FINISHED)
    await page.reload()
    await lab.waitForStatus('idle')
    await expect(lab.get('run')).toHaveCount(2)
    await expect(rowOf(lab, NAMED)).toContainText('finished')

    // Rename, notes, search, pin.
    const newest = lab.get('run').first()
    await newest.getByTestId('edit-run').click()
    await lab.get('run-name').fill('fast one')
    await lab.get('run-notes').fill('too fast?')
    await newest.getByTestId('edit-run').click()
    await lab.get('runs-search').fill('too fast')
    await expect(lab.get('run')).toHaveCount(1)
    await lab.get('runs-search').fill('')
    await expect(rowOf(lab, 'fast one')).toHaveCount(1)
    await lab.get('run').nth(1).getByTestId('pin').click()
    await expect(lab.get('run').first()).not.toContainText('fast one')
    await lab.get('run').first().getByTestId('pin').click()
    await expect(lab.get('run').first()).toContainText('fast one')

    // Delete and undo.
    await rowOf(lab, 'fast one').getByTestId('delete-run').click()
    await expect(lab.get('run')).toHaveCount(1)
    await lab.get('undo-delete').click()
    await expect(lab.get('run')).toHaveCount(2)

    // Sorting by name.
    await lab.get('sort-name').click()
    await expect(lab.get('runs-table').locator('th[aria-sort=ascending]')).toHaveText('run')
    await lab.get('sort-started').click()

    // A past run has its own numbers on the page, and the way back.
    await lab.get('run').nth(1).getByTestId('open-run').click()
    await expect(lab.get('past-run')).toContainText('read-only')
    // The bar that stays in sight names it too.
    await expect(lab.get('bar-past')).toContainText('BuPO (GRPO), layer 2 first')
    await expect.poll(() => shownNumbers(lab)).toEqual(firstNumbers)
    await expect(lab.get('phases')).toContainText('3 of 3')
    // Train would train another run than this one.
    await expect(lab.get('train')).toBeDisabled()
    await expect(lab.get('add-phase')).toBeHidden()
    await lab.get('tab-learn').click()
    await expect(lab.get('samples').getByRole('table').first()).toContainText(`Step ${STEPS}`)
    // The settings are its own, to read, and the person's own come back with it.
    const past = lab.get('past-settings')
    await expect(past).toContainText('Settings of “BuPO (GRPO), layer 2 first')
    await expect(past).toContainText('Not the current run')
    await expect(past.locator('input:not([id=settings-search]), select')).toHaveCount(0)
    await expect(past.getByTestId('past-seed')).toHaveText(/^1\b/)
    await expectClean(lab, 'a past run')
    await lab.get('back-to-run').click()
    await expect(past).toHaveCount(0)
    await expect(page.locator('#field-actor-optim-lr')).toHaveValue('0.01')
    await lab.get('tab-runs').click()
    await lab.get('run').nth(1).getByTestId('open-run').click()
    await lab.get('use-settings').click()
    await expect.poll(() => page.url()).not.toContain('lr=0.01')
    await expect(lab.get('past-run')).toHaveCount(0)
    await expect(lab.get('step-count')).toHaveText('–')

    // Two ticked runs: what differs, and their numbers.
    await lab.get('tab-runs').click()
    for (const tick of await lab.get('tick').all()) await tick.check()
    await expect(lab.get('compare-keys')).toContainText('fast one')
    for (const panel of ['panel-greedy', 'panel-score', 'panel-entropy'])
      await expect(lab.get(`${panel}-values`).locator('li')).toHaveCount(2)
    await expect(lab.get('entropy-maps').locator('canvas')).toHaveCount(2)
    await expectClean(lab, 'two runs compared', 'main')
    // Keys read out all panels at one step, and the maps at a layer; a panel is saved and fills the
    // screen.
    await lab.get('panel-score-value').press('Home')
    for (const panel of ['panel-greedy', 'panel-score', 'panel-entropy'])
      await expect(lab.get(`${panel}-value`)).toHaveText(/^step \d+$/)
    await lab.get('panel-score-value').press('Escape')
    await expect(lab.get('panel-greedy-value')).toHaveText('Beside each name: its value at the end')
    await lab.get('entropy-maps-value').press('ArrowDown')
    await expect(lab.get('entropy-maps-value')).toHaveText(/^step \d+, layer \d+, nats$/)
    await lab.get('panel-greedy-menu').locator('summary').click()
    const saved = page.waitForEvent('download')
    await lab.get('panel-greedy-svg').click()
    expect((await saved).suggestedFilename()).toBe('comparison.panel-greedy.svg')
    await lab.get('panel-greedy-menu').locator('summary').click()
    await lab.get('panel-greedy-full-screen').click()
    await expect(lab.get('panel-greedy-full-values')).toContainText('fast one')
    await page.keyboard.press('Escape')
    // One colour for each run, the same wherever it is drawn.
    const colors = (inside: Locator) =>
      inside.evaluateAll((marks) => marks.map((mark) => getComputedStyle(mark).stroke).sort())
    const marks = lab.get('runs-table').locator('.line-mark line')
    expect(await colors(lab.get('compare-keys').locator('line'))).toEqual(await colors(marks))
    await expect(lab.get('runs-table').locator('.spark path')).toHaveCount(2)
    expect(await colors(lab.get('runs-table').locator('.spark path'))).toEqual(await colors(marks))
    const rows = lab.get('differences').locator('tbody tr')
    await expect(rows).toHaveCount(1)
    await expect(rows).toContainText('lr')
    await expect(rows.locator('td')).toHaveText(['0.001', '0.01'])
    await expect(lab.get('key-metrics')).toContainText(firstNumbers[2])
    await expect(lab.get('paired')).toContainText('seed 1')
  },
)

test('what the database holds is believed only where it is sound', async ({ lab, page }) => {
  await lab.open(SHORT)
  await lab.waitForStatus('idle')
  // The part of the page that keeps runs comes after the first paint, and makes the database.
  await breakRecord(page, 'broken')
  await page.reload()
  await lab.get('tab-runs').click()
  await expect(lab.get('runs-broken')).toContainText('cannot be read')
  const downloaded = page.waitForEvent('download')
  await lab.get('export-record').click()
  expect(await readFile(await (await downloaded).path(), 'utf8')).toContain('"id":"broken"')
  await lab.get('runs-broken').getByRole('button', { name: 'Delete it' }).click()
  await expect(lab.get('runs-broken')).toHaveCount(0)
})

test(
  'without a database runs are kept until the page is closed',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.addInitScript(() => {
      Object.defineProperty(window, 'indexedDB', {
        value: {
          open: () => {
            throw new DOMException('The operation is insecure.', 'SecurityError')
          },
        },
      })
    })
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('tab-runs').click()
    await expect(lab.get('runs-memory')).toContainText('insecure')
    await lab.get('step').click()
    await lab.waitForStep(1)
    await expect(lab.get('run')).toHaveCount(1)
    await expect(lab.get('run')).toContainText('paused')
    await expect(lab.get('run').getByTestId('delete-run')).toBeDisabled()
  },
)

test(
  'a record that cannot be written is reported on every part of the page, and the run continues',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.addInitScript(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('no room', 'QuotaExceededError')
      }
    })
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await train(lab)
    await expect(lab.get('record-problem')).toContainText('storage for this page is full')
    await lab.get('record-problem').getByRole('button', { name: 'See the runs' }).click()
    await expect(lab.get('runs-problem')).toContainText('storage for this page is full')
    await lab
      .get('record-problem')
      .getByRole('button', { name: /^Dismiss/ })
      .click()
    await expect(lab.get('record-problem')).toHaveCount(0)
  },
)

test(
  'a run whose site data are cleared while it continues is kept again, from its first step',
  LONG_ONLY,
  async ({ lab, page, context }) => {
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('step').click()
    await lab.waitForStep(1)
    await waitForRecords(page, 'paused 1')
    await waitForCheckpoint(lab, 1)
    const devtools = await context.newCDPSession(page)
    await devtools.send('Storage.clearDataForOrigin', {
      origin: new URL(page.url()).origin,
      storageTypes: 'indexeddb,file_systems',
    })
    await lab.get('step').click()
    await lab.waitForStep(2)
    await lab.waitForStatus('paused')
    await waitForRecords(page, 'paused 2')
    await waitForCheckpoint(lab, 2)
    await expect(lab.get('record-problem')).toHaveCount(0)
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.get('tab-runs').click()
    await expect(lab.get('run')).toContainText(`2 of ${STEPS}`)
    await lab.get('run').getByTestId('open-run').click()
    await expect(lab.get('status')).toContainText(`interrupted at step 2 of ${STEPS}`)
    await expect(lab.get('checkpoints')).toContainText('1 checkpoint is kept')
    await lab.get('tab-learn').click()
    await lab.get('sft-loss-chart-numbers').locator('summary').click()
    await expect(lab.get('sft-loss-chart-numbers').getByRole('rowheader')).toHaveText(['2', '1'])

    // A record that cannot be read leaves its checkpoints within reach.
    await lab.get('tab-runs').click()
    await breakRecord(page, (await lab.get('run').getAttribute('data-run')) ?? '')
    await page.reload()
    await lab.get('tab-runs').click()
    await lab.get('offer-checkpoint').click()
    await expect(lab.get('offered-file')).toContainText(`step 2 of ${STEPS}`)
  },
)

test('two runs step in turns, and both are kept', LONG_ONLY, async ({ lab, page }) => {
  await lab.open(SHORT)
  await lab.waitForStatus('idle')
  await lab.get('tab-runs').click()
  await expect(lab.get('duel-start')).toBeDisabled()
  await lab.get('duel-source').selectOption('preset')
  await expect(lab.get('duel-problem')).toContainText('task')
  await lab.get('duel-source').selectOption('field')
  await lab.get('duel-field').fill('how fast')
  await lab.get('duel-field').press('Enter')
  await expect(lab.get('duel-field')).toHaveAttribute('title', 'actor.optim.lr')
  await lab.get('duel-value').fill('0.01')
  await lab.get('duel-start').click()
  await expect(lab.get('duel-going')).toBeVisible()
  await expect(lab.get('duel-second-step')).toHaveText(`${STEPS}`, { timeout: 300_000 })
  await expect(lab.get('duel-end')).toHaveText('Done', { timeout: 60_000 })

  // Step 0 is no training step: it comes with the first turn.
  const steps = (await lab.events()).flatMap((event) => (event.type === 'step' ? [event.step] : []))
  const turns = Array.from({ length: STEPS - 1 }, (_, i) => [i + 2, i + 2]).flat()
  expect(steps).toEqual([0, 1, 0, 1, ...turns])

  await expect(lab.get('run')).toHaveCount(2)
  await expect(lab.get('compare-keys').locator('li')).toHaveCount(2)
  await expect(lab.get('differences').locator('tbody tr')).toHaveCount(1)
  await lab.get('duel-end').click()
  await waitForRecords(page, FINISHED, FINISHED)
  await page.reload()
  await expect(lab.get('run')).toHaveCount(2)
  for (const run of await lab.get('run').all()) await expect(run).toContainText('finished')
  // Each of the two can be opened.
  for (const i of [0, 1]) {
    await lab.get('run').nth(i).getByTestId('open-run').click()
    await expect(lab.get('past-run')).toContainText(`finished, ${STEPS} steps`)
    await expect(lab.get('step-count')).toHaveText(`${STEPS}`)
    await lab.get('back-to-run').click()
    await lab.get('tab-runs').click()
  }
})
