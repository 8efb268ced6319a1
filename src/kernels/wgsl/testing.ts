// Every kernel of every family, and what must hold for each, wherever it is made.
import { expect } from 'vitest'
import type { AnyKernel } from '../device/kernel.ts'

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

/** A kernel says its interface twice, in WGSL and in TypeScript: both must agree, within WebGPU's
 * default limits. */
export function expectOneInterface({ name, wgsl, params, bindings }: AnyKernel): void {
  const struct = wgsl.match(/struct Params \{([^}]*)\}/)?.[1] ?? ''
  const fields = [...struct.matchAll(/(\w+)\s*:\s*(\w+)/g)].map(([, field, type]) => [field, type])
  expect(fields, `${name}: struct Params`).toEqual(Object.entries(params))
  const vars = [...wgsl.matchAll(/@binding\((\d+)\) var<storage, (\w+)> (\w+)/g)].map(
    ([, i, access, v]) => [Number(i), v, access],
  )
  expect(vars, `${name}: storage bindings`).toEqual(
    Object.entries(bindings).map(([v, access], i) => [i + 1, v, access]),
  )
  expect(vars.length, `${name}: WebGPU's default is 8 storage buffers`).toBeLessThanOrEqual(8)
  expect(fields.length, `${name}: a params slot holds 64 scalars`).toBeLessThanOrEqual(64)
}

const mainOf = (wgsl: string) => wgsl.slice(wgsl.search(/fn main\(/))

/** Without a place in the grid a second workgroup would do the same again. */
export function expectOneWorkgroup({ name, wgsl }: AnyKernel): void {
  expect(mainOf(wgsl), name).not.toMatch(/workgroup_id|global_invocation_id|num_workgroups/)
}
