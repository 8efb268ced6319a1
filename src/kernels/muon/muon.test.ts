// A Muon step of a matrix against torch.optim.Muon (torch_muon.json, by tools/torch_muon.py).
import { expect, test } from 'vitest'
import { expectClose } from '../testing.ts'
import { muonRef } from './muon.ref.ts'
import { TORCH_CASES } from './testing.ts'

test.for(TORCH_CASES)('$rows × $columns, three steps as torch takes them', (own) => {
  const state = {
    weights: Float64Array.from(own.weights),
    m: new Float64Array(own.weights.length),
  }
  for (const gradient of own.gradients) muonRef(state, gradient, own, own.settings)
  expectClose(state.weights, own.in_float64, { atol: 1e-12, rtol: 0 })
  // torch's steps are in bfloat16, which has eight bits: a hundredth of a step.
  const steps = own.gradients.length * own.settings.lr * own.settings.lr_ratio
  expectClose(state.weights, own.in_bfloat16, { atol: 0.02 * steps, rtol: 0 })
  expect(state.weights).not.toEqual(Float64Array.from(own.weights))
})
