// Tests how a run evaluates itself: which problems are asked, and under which names the scores are
// reported.
import { expect, test } from 'vitest'
import { CONFIG } from '../testing.ts'
import { open } from './testing.ts'
import { Trainer } from './trainer.ts'

test('an evaluation asks every held-out problem once, however many prompts are wanted', async () => {
  const { test_size } = CONFIG.task
  const before = async (prompts: number) => {
    const validation = { test_freq: 1, prompts, n: 2 }
    const trainer = await Trainer.create(await open(), { ...CONFIG, validation })
    const { metrics } = await trainer.next()
    trainer.destroy()
    return Object.entries(metrics).filter(([name]) => name.startsWith('val'))
  }
  const all = await before(test_size)
  expect(all.length).toBeGreaterThan(2)
  expect(await before(3 * test_size + 1)).toEqual(all)
  expect(await before(test_size - 1)).not.toEqual(all)
})

test("validation reports verl's names: the mean, and with several responses best, worst and majority", async () => {
  const names = async (n: number) => {
    const trainer = await Trainer.create(await open(), {
      ...CONFIG,
      validation: { test_freq: 1, prompts: 10, n },
    })
    const { metrics } = await trainer.next()
    trainer.destroy()
    return { metrics, names: Object.keys(metrics).filter((name) => name.startsWith('val-')) }
  }
  expect((await names(0)).names).toEqual(['val-aux/parity/acc/greedy'])
  expect((await names(1)).names.sort()).toEqual([
    'val-aux/parity/acc/greedy',
    'val-aux/parity/reward/mean@1',
    'val-core/parity/acc/mean@1',
  ])
  const two = await names(2)
  const aux = ['std@2', 'worst@2/mean', 'worst@2/std'].map((name) => `val-aux/parity/acc/${name}`)
  const core = ['mean@2', 'best@2/mean', 'best@2/std', 'maj@2/mean', 'maj@2/std'].map(
    (name) => `val-core/parity/acc/${name}`,
  )
  expect(two.names).toEqual(expect.arrayContaining([...aux, ...core]))
  const value = (name: string) => two.metrics[`val-core/parity/acc/${name}`]
  expect(value('mean@2')).toBe(two.metrics['val-aux/parity/reward/mean@2'])
  expect(value('best@2/mean')).toBeGreaterThanOrEqual(value('mean@2'))
  // Tenths of a half: 10 prompts, 2 responses.
  expect((value('mean@2') * 20) % 1).toBeCloseTo(0, 9)
})
