// Every kernel of every family, for tests that hold for each.
import type { AnyKernel } from '../device/kernel.ts'

const modules = import.meta.glob<Record<string, unknown>>(
  ['../**/*.ts', '!../**/*.test.ts', '!../**/*.ref.ts', '!../**/testing.ts'],
  { eager: true },
)

const isKernel = (x: unknown): x is AnyKernel =>
  typeof x === 'object' && x !== null && 'wgsl' in x && 'bindings' in x

/** Kernels that modules export, and those that their `variants` lists hold (kernels made by a function). */
export const everyKernel: readonly AnyKernel[] = Object.values(modules).flatMap((module) =>
  Object.values(module)
    .flatMap((x) => (Array.isArray(x) ? x : [x]))
    .filter(isKernel),
)
