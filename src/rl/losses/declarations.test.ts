import { describe, expect, test } from 'vitest'
import { expectOneInterface, expectOneWorkgroup } from '../../kernels/wgsl/testing.ts'
import { LOSS_KERNELS } from '../learners/loss_kernels.ts'
import { LOSS_MODES, LOSS_NUMBERS, POLICY_LOSSES, pgAggMode } from './losses.ts'

describe('declarations', () => {
  const kernels = Object.values(LOSS_KERNELS).flatMap(({ loss, choice }) =>
    choice ? [loss, choice] : [loss],
  )
  test.for(kernels)('$name declares one interface, and one workgroup does it all', (kernel) => {
    expectOneInterface(kernel)
    expectOneWorkgroup(kernel)
  })

  test('gspo and sapo are averaged by sequence whatever is asked for', () => {
    for (const lossMode of LOSS_MODES)
      expect(pgAggMode(lossMode, 'token-mean')).toBe(
        lossMode === 'gspo' || lossMode === 'sapo' ? 'seq-mean-token-mean' : 'token-mean',
      )
  })

  test('names are told apart, and losses that share a number share what is said of it', () => {
    expect(new Set(LOSS_MODES).size).toBe(LOSS_MODES.length)
    for (const { numbers } of POLICY_LOSSES)
      for (const [name, number] of Object.entries(numbers))
        expect(number, name).toBe(LOSS_NUMBERS.get(name))
  })

  test.for(POLICY_LOSSES)('$name: its kernel reads the numbers that it declares', (loss) => {
    const { wgsl } = LOSS_KERNELS[loss.name].loss
    for (const [name, { isShare = false }] of Object.entries(loss.numbers))
      expect(wgsl.includes(`params.${name}`), name).toBe(!isShare)
  })
})
