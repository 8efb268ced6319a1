import { expect, test } from 'vitest'
import { TORCH_CASES } from '../../kernels/muon/testing.ts'
import { defaultsOf } from '../fields/field.ts'
import { MUON, muonLrRatio } from './muon.ts'
import { muonOf } from './optim.ts'

test('the length of a step follows the shape as in torch', () => {
  for (const { adjust_lr_fn, rows, columns, settings } of TORCH_CASES)
    expect(muonLrRatio(adjust_lr_fn as 'original', rows, columns)).toBeCloseTo(
      settings.lr_ratio,
      12,
    )
})

test('torch’s defaults hold where nothing is said, and AdamW has none', () => {
  const { ns_coefficients, momentum, nesterov, ns_steps, eps } = defaultsOf(MUON)
  const [first] = TORCH_CASES
  expect(first.settings).toMatchObject({ ns_coefficients, momentum, nesterov, ns_steps, eps })
  expect(muonOf({ optimizer: 'Muon' })).toEqual(defaultsOf(MUON))
  expect(muonOf({ optimizer: 'AdamW', muon: defaultsOf(MUON) })).toBeUndefined()
})
