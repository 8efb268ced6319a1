import { expect, test } from 'vitest'
import { inHalves, ofVectors } from './compose.ts'

test('a line with ^ is written once per half, and rows in one piece have none', () => {
  const wgsl = 'let i = block % HALVES;\nx^ = a[v][^];\ny = a[v][half] + xUPPER;'
  expect(inHalves(wgsl, 2)).toBe(
    'let i = block % 2u;\nx0 = a[v][0];\nx1 = a[v][1];\ny = a[v][half] + x1;',
  )
  expect(inHalves(wgsl, 1)).toBe('let i = block % 1u;\nx0 = a[v];\ny = a[v] + x0;')
})

test('a row of channels is vectors of four, and halves of them where it is shared', () => {
  expect(ofVectors('vec4f', 32)).toBe('array<vec4f, 8>')
  expect(ofVectors('CachedVector', 64, 2)).toBe('array<array<CachedVector, 8>, 2>')
})
