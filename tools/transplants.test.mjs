import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ofSeeds, transplantsReport } from './transplants_report.mjs'

test('a mean over seeds has its t interval', () => {
  // SciPy: t.interval(0.95, 3, loc=0.025, scale=sem([0.01, 0.02, 0.03, 0.04])) = 0.00446, 0.04554
  expect(ofSeeds([0.01, 0.02, 0.03, 0.04])).toBe('+2.5 [+0.4, +4.6]')
  expect(ofSeeds([])).toBe('')
})

test('the page says what the start gains from each arm, and the arms from one another', () => {
  const plan = JSON.parse(readFileSync('bench/transplants.json', 'utf8'))
  const exchange = (accuracy, gain) => ({
    accuracy,
    mixtures: ['block 9', 'blocks up to 9', 'everything'].map((name, i) => ({
      name,
      change: gain * (i + 1),
    })),
  })
  const exchanges = plan.seeds.flatMap((seed) =>
    [
      ['GRPO', 'start', 0.02],
      ['BuPO', 'start', 0.05],
      ['GRPO', 'BuPO', 0.01],
    ].map(([of, and, gain]) => ({
      seed,
      step: 8,
      of,
      and,
      into_first: exchange({ host: 0.7, donor: 0.6 }, -gain),
      into_second: exchange({ host: 0.6, donor: 0.7 }, gain),
    })),
  )
  const page = transplantsReport(plan, { adapter: 'made up', exchanges, parts: [] })
  expect(page).toContain('BuPO 70.0 % from 60.0 % (+10.0 [+10.0, +10.0] points)')
  expect(page).toContain('| 9 | +4.0 [+4.0, +4.0] | +10.0 [+10.0, +10.0] |')
  expect(page).toContain('| blocks up to 9 | −2.0 [−2.0, −2.0] | +2.0 [+2.0, +2.0] |')
})
