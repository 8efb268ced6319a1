import { expect, test } from 'vitest'
import { taskOf } from '../fields/task_fields.ts'
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

test('inner layers that learn along cost a head each, and a pass where they have an old policy', () => {
  const costOf = (inner: object) => {
    const experiment = parsed(rl({ actor: { inner } }))
    const [first] = experiment.phases
    if (first.kind !== 'rl') throw new Error('expected reinforcement')
    return 1e9 * stepCosts(experiment, first, { responses: 1, tokens: 1 }).arithmetic
  }
  const experiment = parsed(rl({}))
  const { vocab_size } = taskOf(experiment.task).tokenizer
  const head = 2 * experiment.model.hidden_size * vocab_size
  const block = (forwardCost(experiment) - head) / experiment.model.num_hidden_layers
  const alone = costOf({ layers: null })
  const taught = { objective: 'self_distill', layers: '1,2' }
  expect(costOf(taught) - alone).toBeCloseTo(2 * 3 * head, 3)
  const supervised = { objective: 'deep_supervision', layers: '1,2' }
  expect(costOf(supervised) - alone).toBeCloseTo(2 * 4 * head + 2 * block, 3)
})
