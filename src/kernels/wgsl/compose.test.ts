import { expect, test } from 'vitest'
import { inHalves } from './compose.ts'

test('a line with ^ is written once per half, and rows in one piece have none', () => {
  const wgsl =
    'var a: array<array<array<vec4f, N>, HALVES>>;\nlet i = block % HALVES;\nx^ = a[v][^];\ny = a[v][half] + xUPPER;'
  expect(inHalves(wgsl, 2)).toBe(
    'var a: array<array<array<vec4f, N>, 2>>;\nlet i = block % 2u;\nx0 = a[v][0];\nx1 = a[v][1];\ny = a[v][half] + x1;',
  )
  expect(inHalves(wgsl, 1)).toBe(
    'var a: array<array<vec4f, N>>;\nlet i = block % 1u;\nx0 = a[v];\ny = a[v] + x0;',
  )
})
