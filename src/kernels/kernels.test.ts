// A kernel says its interface twice, in WGSL and in TypeScript. This holds the two together.
import { expect, test } from 'vitest'
import { everyKernel, expectOneInterface } from './wgsl/testing.ts'

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
  expectOneInterface,
)
