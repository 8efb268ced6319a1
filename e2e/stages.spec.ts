// One step of a run, token by token: the table, its formulas, and slow motion by keyboard.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Two mini-batches in a step: the second one sees other ratios than 1. */
const LINK =
  `v=1&p=tiny&phases.0.steps=12&phases.1.steps=200&phases.2.steps=20${QUICK}` +
  '&rollout.train_batch_size=16&actor.ppo_mini_batch_size=8&validation.test_freq=0&probe.rows=8'

test('a step is looked at token by token, and walked through by keyboard', async ({
  lab,
  page,
}) => {
  await lab.withoutMoments()
  await lab.open(LINK)
  await lab.show('tokens')
  await lab.waitForStatus('idle')
  await lab.get('tab-tokens').click()
  // Only what is asked for is traced.
  await lab.get('trace-along').uncheck()
  await expect(lab.get('trace-step')).toBeDisabled()
  await lab.get('train').click()
  await lab.waitForStep(1)
  // Asked for in the warm start, which has nothing to show: it comes with the first step of
  // reinforcement.
  await lab.get('trace-step').click()
  await expect(lab.get('stages')).toContainText('A warm start samples nothing')
  await expect(lab.get('token-table')).toBeVisible({ timeout: 200_000 })
  await lab.get('pause').click()
  await lab.waitForStatus('paused')
  const event = (await lab.events()).find(({ type }) => type === 'trace')
  if (event?.type !== 'trace') throw new Error('the worker sent no trace')
  expect(event.step).toBe(13)
  const { table } = event
  await expect(lab.get('trace-summary')).toContainText(`Step ${event.step}, ${table.phase.name}`)

  // Every response: one advantage, ratios on the side of the range that the clip says.
  const { clip_ratio_low, clip_ratio_high } = table.phase.actor
  for (const { columns, tokens } of table.samples) {
    const { advantages = [], ratio = [], clipped = [] } = columns
    expect(new Set(advantages).size).toBe(1)
    expect([ratio.length, clipped.length]).toEqual([tokens.length, tokens.length])
    ratio.forEach((r, t) => {
      const isOut =
        (advantages[t] > 0 && r > 1 + clip_ratio_high) ||
        (advantages[t] < 0 && r < 1 - clip_ratio_low)
      if (clipped[t] === 1) expect(isOut).toBe(true)
      if (isOut) expect(clipped[t]).toBe(1)
    })
  }

  // The table of the best response: a row per token; there is no reference and no critic.
  const scores = table.samples.map(({ score }) => score)
  const best = table.samples[scores.indexOf(Math.max(...scores))]
  const grid = lab.get('token-table')
  await expect(grid.getByRole('row')).toHaveCount(1 + best.tokens.length)
  const cells = grid.locator('[data-column="advantages"]')
  expect(new Set(await cells.allInnerTexts()).size).toBe(1)
  await expect(grid.locator('[data-column="values"], [data-column="ref_log_prob"]')).toHaveCount(0)
  await expect(lab.get('stages-missing')).toContainText('value (only GAE has a critic')
  // On a phone no sign of a first number lies under what fades beside the heads.
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  const fadingCells = () =>
    grid.evaluate((table) => {
      const isFading = ({ children: [head, cell] }: Element) => {
        const text = document.createRange()
        text.selectNodeContents(cell)
        return text.getBoundingClientRect().left < head.getBoundingClientRect().right + 16
      }
      return [...table.querySelectorAll('tbody tr')].filter(isFading).length
    })
  await expect.poll(fadingCells).toBe(0)
  if (size) await page.setViewportSize(size)

  // Arrow keys go from cell to cell; the sentence and the formulas follow.
  await cells.first().click()
  await expect(lab.get('token-exact')).toContainText(await cells.first().innerText())
  await page.keyboard.press('ArrowDown')
  await expect(lab.get('token-exact')).toContainText(/^Token 2: .*, advantage: /)
  await page.keyboard.press('ArrowLeft')
  await expect(lab.get('token-exact')).toContainText(`${best.columns.token_level_rewards?.[1]}`)
  await expect(lab.get('formulas')).toContainText('advantage: GRPO')
  await expect(lab.get('formulas')).toContainText('r = exp(log π − log πold)')
  await expect(lab.get('formulas').locator('sub').first()).toHaveText('old')

  // Another response.
  await lab.get('trace-worst').click()
  const worst = table.samples[scores.indexOf(Math.min(...scores))]
  await expect(grid.getByRole('row')).toHaveCount(1 + worst.tokens.length)
  await lab.get('trace-sample').selectOption('3')
  await expect(grid.getByRole('row')).toHaveCount(1 + table.samples[3].tokens.length)

  // A phone on its side has the way through the stages in one row.
  await page.setViewportSize({ width: 844, height: 390 })
  const [back, whole] = await Promise.all(
    ['stage-back', 'stage-whole'].map((id) => lab.get(id).boundingBox()),
  )
  expect(whole?.y).toBe(back?.y)
  await page.setViewportSize({ width: 1280, height: 720 })

  // Slow motion, by keyboard alone.
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await lab.get('stage-next').focus()
  const seen: string[] = []
  for (let stage = 1; stage <= 7; stage++) {
    await page.keyboard.press('ArrowRight')
    await expect(lab.get(`stage-${stage}`)).toHaveAttribute('aria-current', 'step')
    seen.push(await lab.get('stage-says').innerText())
  }
  expect(new Set(seen).size).toBe(7)
  expect(seen[6]).toContain('2 optimizer steps')
  await expect(grid.locator('[data-column="log_probs_after"]').first()).toHaveClass(/now/)
  // The sentence below the table follows.
  await expect(lab.get('token-exact')).toContainText('log-prob after: ')
  await page.keyboard.press('ArrowLeft')
  await expect(lab.get('stage-6')).toHaveAttribute('aria-current', 'step')
  await expect(grid.locator('[data-column="log_probs_after"]').first()).toHaveClass(/later/)
  // By itself, held where it is, and out of it again.
  await lab.get('stage-1').click()
  await lab.get('stage-play').click()
  await expect(lab.get('stage-2')).toHaveAttribute('aria-current', 'step')
  await lab.get('stage-play').click()
  await expect(lab.get('stage-play')).toHaveText('Slow motion')
  await page.keyboard.press('Escape')
  await expect(page.locator('.slow-motion [aria-current]')).toHaveCount(0)
  await expect(grid.locator('.later')).toHaveCount(0)

  // In a pause the next step is taken to be looked at.
  await lab.get('trace-step').click()
  await expect(lab.get('trace-summary')).not.toContainText(`Step ${event.step},`)
  await lab.waitForStatus('paused')
  expect((await lab.events()).filter(({ type }) => type === 'trace')).toHaveLength(2)

  // Each traced step can be gone back to, the whole page with it.
  await lab.get('trace-at').selectOption(`${event.step}`)
  await expect(lab.get('trace-summary')).toContainText(`Step ${event.step},`)
  await expect(grid.locator('[data-column="advantages"]').first()).toHaveAttribute(
    'title',
    `${table.samples[3].columns.advantages?.[0]}`,
  )
})

test(
  'on a narrow screen tokens are columns, and nothing moves by itself where that is asked for',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await lab.withoutMoments()
    await lab.open(LINK.replace('phases.0.steps=12', 'phases.0.steps=1'))
    await lab.waitForStatus('idle')
    await lab.get('tab-tokens').click()
    await lab.get('train').click()
    await lab.waitForStep(1)
    await lab.get('trace-step').click()
    const grid = lab.get('token-table')
    await expect(grid).toBeVisible({ timeout: 200_000 })
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    await expect(grid.getByRole('rowheader').first()).toHaveText('token score')
    await expect(lab.get('stage-play')).toHaveCount(0)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
  },
)
