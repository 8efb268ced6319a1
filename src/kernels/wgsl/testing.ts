// Lists every kernel of every family, and what must hold for each, wherever it is made.
import { expect } from 'vitest'
import type { AnyKernel } from '../device/base/kernel.ts'

const modules = import.meta.glob<Record<string, unknown>>(
  ['../**/*.ts', '!../**/*.test.ts', '!../**/*.ref.ts', '!../**/testing.ts'],
  { eager: true },
)

const isKernel = (x: unknown): x is AnyKernel =>
  typeof x === 'object' && x !== null && 'wgsl' in x && 'bindings' in x

/** Kernels that modules export, and those that their `variants` lists hold (kernels made by a
 * function). */
export const everyKernel: readonly AnyKernel[] = Object.values(modules).flatMap((module) =>
  Object.values(module)
    .flatMap((x) => (Array.isArray(x) ? x : [x]))
    .filter(isKernel),
)

/** A kernel's declaration is within WebGPU's default limits, and its text reads only params that
 * are declared. (structure.test.ts keeps params and bindings out of the text.) */
export function expectOneInterface({ name, wgsl, params, bindings }: AnyKernel): void {
  const read = [...wgsl.matchAll(/\bparams\s*\.\s*(\w+)/g)].map(([, field]) => field)
  expect(Object.keys(params), `${name}: params that the WGSL reads`).toEqual(
    expect.arrayContaining([...new Set(read)]),
  )
  const buffers = Object.keys(bindings).length
  expect(buffers, `${name}: WebGPU's default is 8 storage buffers`).toBeLessThanOrEqual(8)
  const numbers = Object.keys(params).length
  expect(numbers, `${name}: a params slot holds 64 scalars`).toBeLessThanOrEqual(64)
}

const mainOf = (wgsl: string) => wgsl.slice(wgsl.search(/fn main\(/))

/** Without a place in the grid a second workgroup would do the same again. */
export function expectOneWorkgroup({ name, wgsl }: AnyKernel): void {
  expect(mainOf(wgsl), name).not.toMatch(/workgroup_id|global_invocation_id|num_workgroups/)
}
