// Opens experiments made to fail by link, and expects each diagnosis to appear while its run goes
// wrong.
import type { Page } from '@playwright/test'
import type { BrokenRun } from '../src/record/diagnosis/broken_runs.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { labModule } from './modules.ts'
import { test } from './warm_page.ts'

const { BROKEN_RUNS } = await labModule<typeof import('../src/record/diagnosis/broken_runs.ts')>(
  'record/diagnosis/broken_runs.ts',
)
const { encodeLink } =
  await labModule<typeof import('../src/document/links/link.ts')>('document/links/link.ts')

declare global {
  interface Window {
    /** Names of all findings that have been on the page. */
    seenFindings: Set<string>
  }
}

/** Notes every finding from now on: some are gone when the run ends. */
const watchFindings = (page: Page): Promise<void> =>
  page.evaluate(() => {
    window.seenFindings = new Set()
    const note = () => {
      for (const node of document.querySelectorAll<HTMLElement>('[data-testid^="finding-"]'))
        window.seenFindings.add(node.dataset.testid?.slice('finding-'.length) ?? '')
    }
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true })
  })

async function start(lab: LabPage, { experiment }: BrokenRun): Promise<void> {
  await lab.open(encodeLink(experiment) + QUICK)
  await lab.waitForStatus('idle')
  await expect(lab.get('notices')).toHaveCount(0)
  await expect(lab.get('findings')).toHaveCount(0)
  await watchFindings(lab.page)
  await lab.get('train').click()
}

async function expectFindings({ page }: LabPage, { finds }: BrokenRun): Promise<void> {
  const seen = () => page.evaluate(() => [...window.seenFindings])
  await expect.poll(seen, { timeout: 400_000 }).toEqual(expect.arrayContaining([...finds]))
}

const percent = (share: number) => `${Number((100 * share).toPrecision(2))} %`

async function recentMean(lab: LabPage, metric: string): Promise<number> {
  const values = (await lab.steps()).slice(-5).map(({ metrics }) => metrics[metric])
  return values.reduce((sum, x) => sum + x, 0) / values.length
}

test(
  'a collapse is found; its settings can be gone to, and it can be dismissed',
  LONG_ONLY,
  async ({ lab, page }) => {
    await start(lab, BROKEN_RUNS[0])
    await lab.waitForStatus('finished', 400_000)
    await expectFindings(lab, BROKEN_RUNS[0])
    const findings = lab.get('findings')
    // One line says what; opened, it says why.
    await expect(lab.get('finding-reward_collapse')).toBeHidden()
    await lab.get('findings-strip').locator('summary').click()
    const collapse = lab.get('finding-reward_collapse')
    await expect(collapse).toHaveAttribute('data-severe', 'true')
    await expect(findings.locator('.finding').first()).toHaveAttribute('data-severe', 'true')
    await expect(lab.get('findings-said')).toHaveAttribute('aria-live', 'polite')
    await expect(lab.get('findings-said')).toContainText('The score has fallen by half')
    const share = await recentMean(lab, 'group/informative')
    await expect(lab.get('finding-no_informative_groups')).toContainText(
      `in ${percent(share)} of the groups`,
    )

    // The settings lie under a closed fold of a closed panel.
    await page.getByTestId('settings-toggle').click()
    const rate = page.locator('#field-actor-optim-lr')
    await expect(rate).toHaveCount(0)
    // Each remedy is there once, whatever number of findings names it.
    await expect(findings.locator('[data-path="actor.optim.lr"]')).toHaveCount(1)
    await expect(lab.get('apply-remedies')).toBeDisabled()
    await findings.locator('[data-path="actor.optim.lr"]').click()
    await expect(rate).toBeFocused()
    await expect(rate).toBeInViewport()
    await expect(page.locator('.field[data-wanted]')).toContainText('Learning rate')
    await expect(page.locator('.field[data-wanted]')).toHaveCount(0, { timeout: 15_000 })

    await collapse.getByRole('button', { name: 'Dismiss' }).click()
    await expect(collapse).toHaveCount(0)
    await expect(lab.get('findings-said')).not.toContainText('The score has fallen by half')
    await expect(lab.get('finding-no_informative_groups')).toBeVisible()
    await lab.get('reset').click()
    await expect(findings).toHaveCount(0)
  },
)

/** What is found is a function of metrics, with tests of its own; that they come to the page is
 * seen above. */
for (const broken of process.env.LONG_TESTS ? BROKEN_RUNS.slice(1) : [])
  test(`${broken.experiment.name}`, async ({ lab }) => {
    await start(lab, broken)
    // The run need not reach its end.
    await expectFindings(lab, broken)
  })
