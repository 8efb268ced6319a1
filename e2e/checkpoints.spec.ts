// Whose a run is, and how it is continued from what was kept of it: from an older state, from a
// file, in the command line.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, LabPage, LONG_ONLY, measured } from './lab_page.ts'
import { keepEvery, keptSteps, waitForRecords } from './stored.ts'
import { LINK, metricsOf, STEPS, train } from './undisturbed.ts'
import { test } from './warm_page.ts'

test(
  'a run belongs to one tab; another one shows it read-only and says why',
  LONG_ONLY,
  async ({ lab, page, context }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('step').click()
    await lab.waitForStep(1)
    await lab.waitForStatus('paused')
    await expect.poll(() => keptSteps(lab)).toEqual([1])
    await waitForRecords(page, 'paused 1')

    const other = new LabPage(await context.newPage())
    await other.open(LINK)
    await other.show('runs')
    await expect(other.get('run')).toHaveCount(1)
    await expect(other.get('run')).toContainText('paused')
    await expect(other.get('left-run')).toHaveCount(0)
    await expect(other.get('delete-run')).toBeDisabled()
    await other.get('open-run').click()
    await expect(other.get('past-run')).toContainText('it continues in another tab')
    await expect(other.get('checkpoints')).toHaveCount(0)

    // What the other tab does is seen here at once: the run continues, and then its page is gone.
    await lab.get('step').click()
    await lab.waitForStep(2)
    await other.show('runs')
    await expect(other.get('run')).toContainText(`2 of ${STEPS}`)
    await page.close()
    await expect(other.get('run')).toContainText('interrupted')

    // With its page gone the run is anyone's.
    await other.page.reload()
    await expect(other.get('left-run')).toContainText(`stopped at step 2 of ${STEPS}`)
    await other.get('look-at-left').click()
    await expect(other.get('checkpoints')).toContainText('2 checkpoints are kept')
    await other.get('leave-it').click()
    await other.page.reload()
    await other.waitForStatus('idle')
    await expect(other.get('left-run')).toHaveCount(0)
  },
)

test(
  'a run of its own continues from an older checkpoint, from a file, and in the command line',
  LONG_ONLY,
  async ({ lab, page }) => {
    await keepEvery(page, 2)
    await train(lab)
    await lab.waitForStatus('finished', 300_000)
    const numbers = await metricsOf(lab)
    await expect.poll(() => keptSteps(lab)).toContain(STEPS)
    await waitForRecords(page, `finished ${STEPS}`)
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.show('runs')
    await lab.get('run').first().getByTestId('open-run').click()
    const places = async (ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await lab.get(id).first().boundingBox())?.y ?? 0))
    const wayBack = async () => {
      const [card, button] = await places(['past-run', 'back-to-run'])
      return button - card
    }
    const before = await wayBack()
    await lab.get('checkpoints').locator('summary').click()
    // The list opens below the line, and each of its rows is one.
    expect(Math.abs((await wayBack()) - before)).toBeLessThan(24)
    const [left, right] = await places(['branch', 'export-checkpoint'])
    expect(Math.abs(left - right)).toBeLessThan(4)
    const older = lab.get('checkpoint').nth(3)
    const step = Number(await older.getAttribute('data-step'))
    expect(step).toBeLessThan(STEPS)

    const coming = page.waitForEvent('download')
    await older.getByTestId('download-checkpoint').click()
    const file = await (await coming).path()

    const restorations = async () =>
      (await lab.events()).filter(({ type }) => type === 'restored').length
    await older.getByTestId('branch').click()
    // The page shows the new run, no longer the past one.
    await expect(lab.get('past-run')).toHaveCount(0)
    await expect.poll(restorations).toBe(1)
    await lab.waitForStatus('finished', 300_000)
    const restored = (await lab.events()).findLast((event) => event.type === 'restored')
    expect(restored).toMatchObject({ why: 'branch', step, parent: { step } })
    expect(await metricsOf(lab)).toEqual(numbers)
    await lab.show('runs')
    await expect(lab.get('run')).toHaveCount(2)
    await lab.get('run').first().getByTestId('edit-run').click()
    await expect(lab.get('run-details')).toContainText(`, step ${step}`)

    const goOnFrom = async (buffer: Buffer, from: number) => {
      await page.keyboard.press('Control+k')
      const choosing = page.waitForEvent('filechooser')
      // What is typed before the palette is there goes to the page.
      await lab.get('palette-input').fill('Open file')
      await page.keyboard.press('Enter')
      const given = { name: 'mine.safetensors', mimeType: 'application/octet-stream', buffer }
      await (await choosing).setFiles(given)
      await expect(lab.get('offered-file')).toContainText(`step ${from} of ${STEPS}`)
      const before = await restorations()
      await lab.get('go-on-file').click()
      await expect(lab.get('offered-file')).toHaveCount(0)
      // What is left may be over at once, and the run before it is finished too.
      await expect.poll(restorations).toBe(before + 1)
      await lab.waitForStatus('finished', 300_000)
      return metricsOf(lab)
    }
    expect(await goOnFrom(readFileSync(file), step)).toEqual(numbers)

    // On in the command line, and back: each has the steps before from the other, to the bit.
    const last = STEPS - 4
    const folder = mkdtempSync(join(tmpdir(), 'understory-'))
    try {
      const every = ['--checkpoint-every', `${last - step}`]
      const args = ['scripts/lab.mjs', 'train', '--resume', file, '--out', folder, ...every]
      execFileSync('node', args, { stdio: ['ignore', 'ignore', 'pipe'] })
      const found = measured(readFileSync(join(folder, 'metrics.jsonl'), 'utf8'))
      expect(found).toHaveLength(STEPS + 1)
      expect(found.slice(0, step + 1)).toEqual(numbers.slice(0, step + 1))
      const kept = join(folder, 'checkpoints', `step_${`${last}`.padStart(6, '0')}.safetensors`)
      const back = await goOnFrom(readFileSync(kept), last)
      expect(back).toHaveLength(STEPS + 1)
      expect(back.slice(0, last + 1)).toEqual(found.slice(0, last + 1))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }

    // Deleting a run deletes what was kept of it.
    await lab.show('runs')
    await lab.get('delete-checkpoints').click()
    await expect(lab.get('checkpoint-storage')).toContainText('for 1 run')
  },
)
