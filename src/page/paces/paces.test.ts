// Estimates from earlier runs.
import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Gaps } from '../../record/run/time_left.ts'
import { estimateOf, type RunPaces, withRun } from './paces.ts'

const SFT = { kind: 'sft', steps: 20 }
const RL = { kind: 'rl', steps: 10, target_layer: 'final' }

function experimentOf(document: object) {
  const parsed = parseExperiment({ validation: { test_freq: null }, ...document })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

const steps = (ms: number) => Array.from({ length: 8 }, () => ({ ms, isValidated: false }))
/** A run of both phases, or of the first alone. */
const ran = (gaps: Gaps, known: readonly RunPaces[] = [], adapter = 'gpu') =>
  withRun(known, adapter, { runExperiment: experimentOf({ phases: [SFT, RL] }), gaps })

test('the same settings with other numbers of steps and another seed take the time of their steps', () => {
  const known = ran({ 0: steps(100), 1: steps(400) })
  const other = experimentOf({ seed: 7, phases: [{ ...SFT, steps: 50 }, RL] })
  expect(estimateOf(known, 'gpu', other)).toBe(9)
  // And of a run that is on, the time of those that are left.
  expect(estimateOf(known, 'gpu', other, 52)).toBeCloseTo(8 * 0.4)
})

test('the pace of another adapter, of other settings and of a kind of phase that never ran is unknown', () => {
  const known = ran({ 0: steps(100), 1: steps(400) })
  const same = experimentOf({ phases: [SFT, RL] })
  expect(estimateOf(known, 'other', same)).toBeUndefined()
  const wider = experimentOf({ model: { hidden_size: 32 }, phases: [SFT, RL] })
  expect(estimateOf(known, 'gpu', wider)).toBeUndefined()
  expect(estimateOf(ran({ 0: steps(100) }), 'gpu', same)).toBeUndefined()
  expect(estimateOf([], 'gpu', same)).toBeUndefined()
})

test('a learning rate and pinned kernels leave the time of a step as it was measured', () => {
  const known = ran({ 0: steps(100), 1: steps(400) })
  const optim = { optim: { lr: 0.1 } }
  const ofStudy = experimentOf({ kernels: 'default', actor: optim, phases: [SFT, RL] })
  expect(estimateOf(known, 'gpu', ofStudy)).toBe(6)
  // What it measured itself counts before that.
  const gaps = { 0: steps(50), 1: steps(100) }
  const own = withRun(known, 'gpu', { runExperiment: ofStudy, gaps })
  expect(estimateOf(own, 'gpu', ofStudy)).toBe(2)
  expect(estimateOf(own, 'gpu', experimentOf({ phases: [SFT, RL] }))).toBe(6)
})

test('a later run replaces what it has measured and keeps the rest', () => {
  const first = ran({ 0: steps(100), 1: steps(400) })
  const second = ran({ 0: steps(200) }, first)
  expect(second).toHaveLength(1)
  const same = experimentOf({ phases: [SFT, RL] })
  expect(estimateOf(second, 'gpu', same)).toBe(8)
  expect(ran({}, first)).toBe(first)
})

test('the last steps of a run that was continued do not stand for all of them', () => {
  const known = ran({ 0: steps(100), 1: steps(400) })
  const few = (...ms: number[]) => ms.map((one) => ({ ms: one, isValidated: false }))
  // Two steps that arrived together, and one that took long.
  expect(ran({ 1: few(4, 300) })).toEqual([])
  expect(ran({ 1: few(4, 300) }, known)).toBe(known)
  expect(ran({ 1: few(4, 4, 4, 300) }, known)).toBe(known)
  const second = ran({ 1: few(200, 200, 200, 200, 200) }, known)
  expect(estimateOf(second, 'gpu', experimentOf({ phases: [SFT, RL] }))).toBe(4)
})

test('a slow first validation is not expected of all to come', () => {
  const document = experimentOf({ phases: [{ ...RL, steps: 40 }], validation: { test_freq: 10 } })
  const gap = (ms: number, isValidated = false) => ({ ms, isValidated })
  const first = [gap(100), gap(100), gap(9000), gap(100, true)]
  const second = [gap(100), gap(100), gap(300), gap(100, true)]
  const told = (gaps: Gaps[number], known: readonly RunPaces[] = []) =>
    withRun(known, 'gpu', { runExperiment: document, gaps: { 0: gaps } })
  const validationOf = ([{ phases }]: readonly RunPaces[]) => phases[0].pace.validation_ms ?? 0
  // By its work it is not even a few steps.
  const early = validationOf(told(first))
  expect(early).toBeGreaterThan(0)
  expect(early).toBeLessThan(1000)
  expect(validationOf(told([...first, ...second]))).toBe(200)
  // And the next run knows what one took before.
  expect(validationOf(told(first, told([...first, ...second])))).toBeLessThanOrEqual(200)
})
