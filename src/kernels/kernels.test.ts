// A kernel says its interface twice, in WGSL and in TypeScript. This holds the two together.
import { expect, test } from 'vitest'
import { everyKernel } from './wgsl/testing.ts'

test('there are kernels, and no two share a name', () => {
  expect(everyKernel.length).toBeGreaterThan(0)
  const sources = new Map<string, string>()
  for (const { name, wgsl } of everyKernel) {
    expect(sources.get(name) ?? wgsl, `${name} is the name of two kernels`).toBe(wgsl)
    sources.set(name, wgsl)
  }
})

test.for(everyKernel)(
  '$name: the spec and the WGSL declare the same interface, within the default limits',
  ({ name, wgsl, params, bindings }) => {
    const struct = wgsl.match(/struct Params \{([^}]*)\}/)?.[1] ?? ''
    const fields = [...struct.matchAll(/(\w+)\s*:\s*(\w+)/g)].map(([, field, type]) => [
      field,
      type,
    ])
    expect(fields, `${name}: struct Params`).toEqual(Object.entries(params))
    const vars = [...wgsl.matchAll(/@binding\((\d+)\) var<storage, (\w+)> (\w+)/g)].map(
      ([, i, access, v]) => [Number(i), v, access],
    )
    expect(vars, `${name}: storage bindings`).toEqual(
      Object.entries(bindings).map(([v, access], i) => [i + 1, v, access]),
    )
    expect(vars.length, `${name}: WebGPU's default is 8 storage buffers`).toBeLessThanOrEqual(8)
    expect(fields.length, `${name}: a params slot holds 64 scalars`).toBeLessThanOrEqual(64)
  },
)
