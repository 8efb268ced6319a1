// Errors that a person caused are told in their own words, without the place in our code.
import { expect, test } from 'vitest'
import { NoPairsError } from '../../rl/reward/pairs.ts'
import { LabFailure, saysAll } from './command.ts'

test('what a person can change is said without a stack, our own mistakes are not', () => {
  expect(saysAll(new LabFailure('no such folder'))).toBe(true)
  expect(saysAll(new NoPairsError('preference: all responses tie'))).toBe(true)
  expect(saysAll(new TypeError('x is undefined'))).toBe(false)
  expect(saysAll('thrown')).toBe(false)
})
