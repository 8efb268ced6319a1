// The kernels whose machine code `npm run gpu-report` looks at: every product, and the others that runs of the presets and of
// models of 135 and 600 million weights take.
import { attentionKernels } from '../src/kernels/attention/attention.ts'
import { cacheKernels } from '../src/kernels/attention/attention_cache.ts'
import type { AnyKernel } from '../src/kernels/device/kernel.ts'
import { variants as fused } from '../src/kernels/matmul/matmul_fused.ts'
import { variants as products, TILES } from '../src/kernels/matmul/matmul_variants.ts'

/** What the compiler needs of a kernel, as plain data. */
export interface ReportedKernel {
  readonly name: string
  readonly kind: 'product' | 'attention' | 'other'
  readonly wgsl: string
  readonly constants: Readonly<Record<string, number>>
  readonly requires: readonly string[]
  /** Of the storage buffers; binding 0 is a uniform. */
  readonly bindings: readonly string[]
  /** Multiply-adds of a lane in one stage of a staged product. */
  readonly stage_fmas?: number
}

/** Columns of a row and channels of a head: preset tiny, preset A, models of 135M and 600M. */
const ATTENTION = [
  { width: 16, head_dim: 8 },
  { width: 16, head_dim: 16 },
  { width: 512, head_dim: 64 },
  { width: 2048, head_dim: 128 },
]

const modules = import.meta.glob<Record<string, unknown>>(
  ['../src/kernels/*/*.ts', '!../src/kernels/*/*.{test,ref}.ts', '!../src/kernels/*/testing.ts'],
  { eager: true },
)

const isKernel = (x: unknown): x is AnyKernel =>
  typeof x === 'object' && x !== null && 'wgsl' in x && 'bindings' in x

export function reportedKernels(): ReportedKernel[] {
  const attention = ATTENTION.flatMap((size) => [
    ...Object.values(attentionKernels(size)),
    ...Object.values(cacheKernels(size, 'float32')),
    ...Object.values(cacheKernels(size, 'float16')),
  ]) as unknown as AnyKernel[]
  const others = Object.values(modules).flatMap((module) => Object.values(module).filter(isKernel))
  const listed = [
    ...[...products, ...fused].map((kernel) => reported(kernel, 'product')),
    ...attention.map((kernel) => reported(kernel, 'attention')),
    ...others.map((kernel) =>
      reported(kernel, /^attention/.test(kernel.name) ? 'other' : kindOf(kernel)),
    ),
  ]
  return [...new Map(listed.reverse().map((kernel) => [kernel.name, kernel])).values()].reverse()
}

const kindOf = ({ name }: AnyKernel) => (name.startsWith('matmul') ? 'product' : 'other')

function reported(kernel: AnyKernel, kind: ReportedKernel['kind']): ReportedKernel {
  const { name, wgsl, constants = {}, requires = [], bindings } = kernel
  const [, variant = ''] = /_(staged_\w+)$/.exec(name) ?? []
  const { rows = 0, cols = 0, stage = 0 } = TILES[variant] ?? {}
  return {
    ...{ name, kind, wgsl, constants, requires, bindings: Object.values(bindings) },
    ...(stage > 0 && { stage_fmas: rows * cols * stage }),
  }
}
