// Tests what must hold for every kernel: one name, one interface.
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
  '$name: its interface is declared once, within the default limits',
  expectOneInterface,
)
