import { expect, test } from 'vitest'
import { RL, SFT } from '../testing.ts'
import { hasStop, STOP_DEFAULTS, type Stop } from './phase.ts'
import { SCORE, stopMetrics, stopReason } from './stop.ts'

const stop = (change: Partial<Stop>): Stop => ({ ...STOP_DEFAULTS, ...change })
const names = stopMetrics(RL, 'parity', 3)

test('nothing is on by default', () => {
  expect(hasStop(undefined)).toBe(false)
  expect(hasStop(STOP_DEFAULTS)).toBe(false)
  expect(stopReason(STOP_DEFAULTS, names, { [SCORE]: 1, 'actor/entropy': 0 }, [1, 1])).toBe(
    undefined,
  )
})

test('accuracy, score and entropy compare with what the step reported, and with nothing else', () => {
  const all = stop({ accuracy: 0.5, score: 0.75, entropy_floor: 0.1 })
  const reason = (metrics: Record<string, number>) => stopReason(all, names, metrics, [])
  expect(reason({})).toBe(undefined)
  expect(reason({ 'val-aux/parity/acc/greedy': 0.5 })).toBe('accuracy')
  expect(reason({ 'val-aux/parity/acc/greedy': 0.49, [SCORE]: 0.75 })).toBe('score')
  expect(reason({ [SCORE]: 0.74, 'actor/entropy': 0.1 })).toBe(undefined)
  expect(reason({ 'actor/entropy': 0.0999 })).toBe('entropy_floor')
})

test('an inner phase looks at the entropy of its own layer', () => {
  expect(stopMetrics({ ...RL, target_layer: 2 }, 'parity', 3).entropy).toBe('layer/entropy/2')
  expect(names.entropy).toBe('actor/entropy')
  expect(stopMetrics(SFT, 'parity', 3).accuracy).toBe('val-aux/parity/acc/greedy')
})

test('a plateau compares the last steps with as many before them', () => {
  const plateau = stop({ plateau_steps: 2, plateau_delta: 0.1 })
  const reason = (...scores: number[]) => stopReason(plateau, names, { [SCORE]: 0 }, scores)
  expect(reason(0, 0, 0)).toBe(undefined)
  expect(reason(0, 0, 0, 0)).toBe('plateau')
  expect(reason(0, 0, 0.125, 0.125)).toBe(undefined)
  expect(reason(0, 0, 0, 0.125)).toBe('plateau')
  // Only the last four count.
  expect(reason(0, 0.5, 0.5, 0.5, 0.5)).toBe('plateau')
})
