import { expect, test } from 'vitest'
import { everyKernel, expectOneWorkgroup } from '../../wgsl/testing.ts'
import type { AnyKernel } from '../base/kernel.ts'
import type { Grid } from '../base/program.ts'
import { parts, setPart, splitKernel } from './split.ts'

const mainOf = (wgsl: string) => wgsl.slice(wgsl.search(/fn main\(/))

test.for(everyKernel)('$name: can be split, or one workgroup does it all', (kernel) => {
  const part = splitKernel(kernel)
  if (!part) {
    expectOneWorkgroup(kernel)
    return
  }
  expect(part.name).toBe(`${kernel.name}_part`)
  expect(Object.keys(part.params).slice(-4)).toEqual(['part_x', 'part_y', 'grid_x', 'grid_y'])
  expect(new Set(Object.keys(part.params)).size).toBe(Object.keys(kernel.params).length + 4)
  expect(part.bindings).toBe(kernel.bindings)

  // Each builtin that depends on the grid is renamed in the signature and declared again, once,
  // before the old code.
  const [before, after] = [mainOf(kernel.wgsl), mainOf(part.wgsl)]
  const signature = after.slice(0, after.indexOf('{'))
  const builtins = [...before.slice(0, before.indexOf('{')).matchAll(/@builtin\((\w+)\) (\w+)/g)]
  let body = after.slice(after.indexOf('{') + 1)
  for (const [, builtin, name] of builtins) {
    const moves =
      builtin !== 'subgroup_size' &&
      builtin !== 'local_invocation_index' &&
      builtin !== 'local_invocation_id'
    expect(signature).toContain(`@builtin(${builtin}) ${moves ? `part_${name}` : name}:`)
    if (!moves) continue
    expect(body).toMatch(new RegExp(`^\\s*let ${name} = [^;]*part_${name}[^;]*;`))
    body = body.slice(body.indexOf(';') + 1)
  }
  // Nothing else changed.
  expect(body.trim()).toBe(before.slice(before.indexOf('{') + 1).trim())
  const preamble = (wgsl: string) => wgsl.slice(0, wgsl.search(/fn main\(/))
  expect(preamble(part.wgsl)).toBe(preamble(kernel.wgsl))
})

const kernel = (main: string, params: Record<string, 'u32'> = { count: 'u32' }): AnyKernel => ({
  name: 'k',
  wgsl: `${main} { }`,
  params,
  bindings: {},
  workgroups: () => [1],
})

test('each way of asking for a place is answered for the whole grid', () => {
  const oneLine = splitKernel(
    kernel(
      '@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) n: vec3u)',
    ),
  )
  expect(
    oneLine?.wgsl,
  ).toBe(`@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) part_id: vec3u, @builtin(num_workgroups) part_n: vec3u) {
  let id = part_id + vec3u(params.part_x * 8, params.part_y, 0u);
  let n = vec3u(params.grid_x, params.grid_y, part_n.z);
 }`)
})

test('what cannot be told where it is, is left whole', () => {
  const main = (builtin: string, size = '64') =>
    splitKernel(kernel(`@compute @workgroup_size(${size}) fn main(@builtin(${builtin}) at: vec3u)`))
  expect(main('workgroup_id')).toBeDefined()
  expect(main('global_invocation_id')).toBeDefined()
  expect(main('local_invocation_id')).toBeUndefined()
  expect(main('workgroup_index')).toBeUndefined()
  // An offset in invocations needs the workgroup's size in that dimension.
  expect(main('global_invocation_id', '8, 8')).toBeUndefined()
  const many = (count: number) =>
    splitKernel(
      kernel(
        '@compute @workgroup_size(1) fn main(@builtin(workgroup_id) at: vec3u)',
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 'u32' as const])),
      ),
    )
  expect(many(60)).toBeDefined()
  expect(many(61)).toBeUndefined()
})

test.for<[Grid, number, number]>([
  [[1, 1, 1], 5, 1],
  [[7, 1, 1], 1, 1],
  [[7, 1, 1], 3, 3],
  [[7, 3, 1], 100, 7],
  [[2, 11, 1], 4, 4],
  [[5, 5, 2], 2, 2],
  [[65535, 3, 1], 7, 7],
])('%j in %i parts: every workgroup once, in %i even parts', ([grid, count, expected]) => {
  const cut = parts(grid, count)
  expect(cut.length).toBe(expected)
  const [x, y, z] = grid
  const seen = new Uint8Array(x * y)
  for (const { first, grid: part } of cut) {
    expect(part[2]).toBe(z)
    for (let j = 0; j < part[1]; j++)
      for (let i = 0; i < part[0]; i++) seen[first[0] + i + (first[1] + j) * x]++
  }
  expect(seen.every((times) => times === 1)).toBe(true)
  const sizes = cut.map((part) => part.grid[0] * part.grid[1])
  const along = Math.min(x, y)
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(along)
})

test('a part is written behind the params of the whole', () => {
  const view = new DataView(new ArrayBuffer(24))
  setPart(view, 8, { first: [3, 4], grid: [1, 2, 1] }, [9, 8, 1])
  expect(Array.from({ length: 6 }, (_, i) => view.getUint32(4 * i, true))).toEqual([
    0, 0, 3, 4, 9, 8,
  ])
})
