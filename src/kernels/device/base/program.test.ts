import { expect, test } from 'vitest'
import { DispatchTable } from './dispatch_table.ts'
import { defineKernel } from './kernel.ts'
import { collect, type Recorder, readParams, suitedToGpu } from './program.ts'
import { MemoryPlan } from './tensor.ts'

test('params are read back as they were laid out', () => {
  const bytes = new DataView(new ArrayBuffer(16))
  bytes.setUint32(4, 7, true)
  bytes.setFloat32(8, 0.5, true)
  bytes.setUint32(12, 0xffffffff, true)
  const params = { count: 'u32', scale: 'f32', last: 'u32' } as const
  expect(readParams(params, bytes, 4)).toEqual({ count: 7, scale: 0.5, last: 0xffffffff })
})

test('on a GPU a kernel’s twin takes its place, on its own grid, fixed or live', () => {
  const declared = { params: { rows: 'u32' }, bindings: { x: 'read_write' } } as const
  const wide = { ...declared, name: 'wide', wgsl: '', workgroups: () => [1] as const }
  const twin = {
    ...declared,
    name: 'twin',
    wgsl: '',
    workgroups: ({ rows }: Readonly<Record<string, number>>) => [rows] as const,
  }
  const kernel = defineKernel({ ...wide, onGpu: twin })
  const x = new MemoryPlan().tensor('x', 'f32', [1])
  const recorded = collect('test', (r: Recorder<'rows'>) => {
    r.run(kernel, { rows: 7 }, { x })
    r.run(kernel, { rows: ({ rows }) => rows }, { x })
    r.run(wide, { rows: 7 }, { x })
  })
  const [fixed, live, other] = suitedToGpu(recorded).filter((c) => c.kind === 'dispatch')
  expect([fixed, live, other].map(({ kernel }) => kernel.name)).toEqual(['twin', 'twin', 'wide'])
  expect([fixed, other].map(({ grid }) => grid)).toEqual([
    [7, 1, 1],
    [1, 1, 1],
  ])
  const table = new DispatchTable([fixed, live])
  table.setLive({ rows: 5 })
  expect([...table.grids]).toEqual([7, 1, 1, 5, 1, 1])
})
