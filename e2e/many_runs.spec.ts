// A browser with many runs: the table stays quick, and finds, groups, compares and reports them.
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { unzipSync } from 'fflate'
import { violations } from './axe.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { waitForRecords } from './stored.ts'
import { test } from './warm_page.ts'

const SHORT = `v=1&p=tiny&phases.0.steps=3&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`

/** Copies of the only run in the database: 50 seeds of three learning rates, whose accuracies grow
 * with both. */
const copyRun = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('understory.runs')
        request.onerror = () => reject(request.error)
        request.onsuccess = () => {
          const tx = request.result.transaction(['headers', 'labels', 'chunks'], 'readwrite')
          tx.onerror = () => reject(tx.error)
          tx.oncomplete = () => {
            request.result.close()
            resolve()
          }
          const all = tx.objectStore('headers').getAll()
          all.onsuccess = () => {
            const [header] = all.result
            const metric = 'val-aux/sort_digits/acc/greedy'
            for (let i = 0; i < 150; i++) {
              const id = i === 0 ? header.id : `run-${i}`
              const [seed, rate] = [1 + Math.floor(i / 3), i % 3]
              const accuracy = 0.3 + 0.1 * rate + 0.001 * seed
              const document = structuredClone(header.document)
              document.seed = seed
              document.actor.optim.lr = [0.0003, 0.001, 0.003][rate]
              const summary = { ...header.summaries[metric], last: accuracy }
              tx.objectStore('headers').put({
                ...header,
                id,
                document,
                experiment: document,
                status: 'finished',
                started_at: 1e12 + i,
                ended_at: 1e12 + i + 60_000,
                summaries: { ...header.summaries, [metric]: summary },
              })
              tx.objectStore('labels').put({ id, tags: i < 6 ? ['paper'] : [] })
              const steps = Float64Array.of(0, 5, 10)
              const values = steps.map((step) => (accuracy * step) / 10)
              const columns = { [metric]: { steps, values } }
              tx.objectStore('chunks').put({ run: id, part: 0, columns })
            }
          }
        }
      }),
  )

test(
  '150 runs are listed in parts, found, grouped, averaged and reported',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('step').click()
    await lab.waitForStep(1)
    await waitForRecords(page, 'paused 1')
    await page.goto('./licenses.txt')
    await copyRun(page)
    await lab.open('v=1&p=tiny#tab=runs')
    const rows = lab.get('run')
    await expect(lab.get('runs-storage')).toContainText('150 runs')
    // A part of them is made; the rest where the end comes into sight.
    await expect(rows).toHaveCount(60)
    // Not a click: the button may leave once it is in sight.
    const toEnd = () =>
      page.evaluate(() => document.querySelector('[data-testid=more-runs]')?.scrollIntoView())
    await expect.poll(() => toEnd().then(() => rows.count())).toBe(150)

    // Columns.
    await lab.get('runs-columns').click()
    await lab.get('columns-search').fill('lr')
    await page.locator('[data-column="setting:actor.optim.lr"]').check()
    await lab.get('columns-search').fill('time')
    await page.locator('[data-column="fact:took"]').check()
    expect(await violations(page, '[data-testid="runs"]')).toEqual([])
    await lab.get('runs-columns').click()
    await expect(rows.first()).toContainText('1 min 00 s')
    await lab.get('sort-setting:actor.optim.lr').click()
    await expect(rows.first()).toContainText('0.003')

    // Filters: the tag, then a number as well.
    await lab.get('runs-filter').click()
    await lab.get('filter-value').fill('paper')
    await lab.get('filter-add').click()
    await expect(rows).toHaveCount(6)
    await lab.get('filter-column').selectOption('metric:greedy')
    await lab.get('filter-operator').selectOption('at least')
    await lab.get('filter-value').fill('40 %')
    await lab.get('filter-add').click()
    await expect(rows).toHaveCount(4)

    // Groups, with the mean of each; the choice is there on the next visit.
    await lab.get('runs-group').selectOption('seeds')
    const groups = lab.get('run-group')
    await expect(groups).toHaveCount(2)
    await expect(groups.first()).toContainText('lr 0.003')
    await expect(groups.first()).toContainText('2 runs')
    await expect(groups.first()).toContainText('50.2 %')
    await page.reload()
    await expect(groups).toHaveCount(2)
    await expect(lab.get('runs-filters').locator('li')).toHaveCount(2)

    // A group is ticked at once, drawn as one line, and reported.
    await groups.first().getByRole('checkbox').check()
    await groups.nth(1).getByRole('checkbox').check()
    await page.getByLabel('mean and its 95 %').check()
    await expect(lab.get('compare-keys')).toContainText('mean of 2 seeds')
    const downloaded = page.waitForEvent('download')
    await lab.get('save-report').click()
    const files = unzipSync(await readFile(await (await downloaded).path()))
    const report = new TextDecoder().decode(files['understory-report/report.md'])
    expect(report).toContain('# Comparison of 4 runs')
    expect(report).toContain('| actor.optim.lr |')
    expect(Object.keys(files)).toContain('understory-report/greedy.svg')

    // Tags are a run's own.
    await rows.first().getByTestId('edit-run').click()
    await lab.get('run-tags').fill('paper, checked')
    await expect(rows.first()).toContainText('checked')
    expect(await violations(page, '[data-testid="runs"]')).toEqual([])
  },
)
