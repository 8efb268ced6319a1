import { expect, test } from 'vitest'
import { inPairs, narrowSource } from './narrow_source.ts'

test('a line is written once per query, key and vector, without comments', () => {
  const wgsl = '  // why\n  dot?_~ = plus(dot?_~, q?_$, k~_$);\n\n  end(qLAST);\n'
  const lines = narrowSource(wgsl, 8).split('\n')
  expect(lines.filter((line) => line.includes('plus')).length).toBe(2 * 2 * 2)
  expect(lines[1]).toBe('dot0_0 = plus(dot0_0, q0_1, k0_1);')
  expect(lines).toContain('end(q1);')
  expect(lines.join()).not.toContain('why')
  expect(narrowSource(wgsl, 32)).toContain('end(q0);')
})

test('pairs of queries leave room for one that begins before its row', () => {
  expect(inPairs({ rows: 3, width: 7 }, 8)).toEqual({ rows: 3, width: 4 })
  expect(inPairs({ rows: 3, width: 8 }, 8)).toEqual({ rows: 3, width: 5 })
  expect(inPairs({ rows: 3, width: 8 }, 16)).toEqual({ rows: 3, width: 8 })
})
