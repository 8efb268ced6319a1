import { expect, test } from 'vitest'
import { parsed, rl } from '../testing.ts'
import { forwardCost, stepCosts } from './costs.ts'

test('an entropy bonus of the whole model costs an inner phase one more pass, forward and backward', () => {
  const costsOf = (phase: object) => {
    const experiment = parsed(rl({ target_layer: 2, ...phase }))
    const [first] = experiment.phases
    if (first.kind !== 'rl') throw new Error('expected reinforcement')
    const { arithmetic } = stepCosts(experiment, first, { responses: 1, tokens: 1 })
    return { arithmetic, pass: (3 * forwardCost(experiment)) / 1e9 }
  }
  const plain = costsOf({ actor: { entropy_coeff: 0.01 } })
  const final = costsOf({ actor: { entropy_coeff: 0.01, entropy_of: 'final' } })
  expect(final.arithmetic - plain.arithmetic).toBeCloseTo(plain.pass, 12)
  expect(costsOf({ actor: { entropy_of: 'final' } }).arithmetic).toBe(plain.arithmetic)
  const whole = { target_layer: 'final', actor: { entropy_coeff: 0.01 } }
  const named = { ...whole, actor: { ...whole.actor, entropy_of: 'final' } }
  expect(costsOf(named).arithmetic).toBe(costsOf(whole).arithmetic)
})
