import { expect, test } from 'vitest'
import {
  accessOf,
  elementOf,
  inSubgroupsOf,
  interfaceOf,
  wholeText,
  withElements,
} from './kernel.ts'

const declared = {
  params: { rows: 'u32', eps: 'f32' },
  bindings: { x: 'read', ids: 'read u32', out: 'read_write array<vec4f, 8>' },
} as const

test('a declaration becomes the struct and the bindings, in order', () => {
  expect(interfaceOf(declared)).toBe(`struct Params {
  rows: u32,
  eps: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<array<vec4f, 8>>;
`)
})

test('it stands behind the text, so that the lines of a compiler are those of the text', () => {
  const wgsl = 'enable f16;\nfn main() { }'
  expect(wholeText({ wgsl, ...declared }).startsWith(`${wgsl}\nstruct Params {`)).toBe(true)
})

test('elements change, and access stays', () => {
  const typed = withElements<Record<string, 'read' | 'read_write u32'>>(
    { x: 'read', out: 'read_write u32' },
    { x: 'vec4f' },
  )
  expect(typed).toEqual({ x: 'read vec4f', out: 'read_write u32' })
  expect([accessOf(typed.x), elementOf(typed.x)]).toEqual(['read', 'vec4f'])
  expect(() => withElements({ x: 'read' }, { y: 'vec4f' } as never)).toThrow(
    'There is no binding y to be of vec4f',
  )
})

test('a text in subgroups of a size says so first, and at its entry point', () => {
  const text = 'enable f16;\n@compute @workgroup_size(8, 8)\nfn main() { }'
  expect(inSubgroupsOf(8, text)).toBe(
    'enable subgroup_size_control;\nenable f16;\n@compute @workgroup_size(8, 8) @subgroup_size(8)\nfn main() { }',
  )
})
