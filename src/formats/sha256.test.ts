import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Sha256 } from './sha256.ts'

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 37) % 251)
const truth = (own: Uint8Array) => `sha256-${createHash('sha256').update(own).digest('hex')}`

test('any length is hashed as everybody does', () => {
  for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000]) {
    const hash = new Sha256()
    hash.update(bytes.subarray(0, length))
    expect(hash.bytes).toBe(length)
    expect(hash.digest()).toBe(truth(bytes.subarray(0, length)))
  }
})

test('pieces of any size are the same as the whole', () => {
  for (const size of [1, 7, 63, 64, 65, 333]) {
    const hash = new Sha256()
    for (let at = 0; at < bytes.length; at += size) hash.update(bytes.subarray(at, at + size))
    expect(hash.digest()).toBe(truth(bytes))
  }
})
