// Lists the kernels whose machine code `npm run gpu-report` looks at: all that there are, with the
// sizes of heads that the presets and models of 135 and 600 million weights have.
import { attentionKernels } from '../src/kernels/attention/attention.ts'
import { cacheKernels } from '../src/kernels/attention/attention_cache.ts'
import {
  type AnyKernel,
  accessOf,
  inSubgroupsOf,
  wholeText,
} from '../src/kernels/device/base/kernel.ts'
import { INTEL_LANES } from '../src/kernels/device/features.ts'
import { forWeight } from '../src/kernels/matmul/bfloat16.ts'
import { variants as fused } from '../src/kernels/matmul/matmul_fused.ts'
import { variants as products, TILES } from '../src/kernels/matmul/matmul_variants.ts'

/** What the compiler needs of a kernel, as plain data. */
export interface ReportedKernel {
  readonly name: string
  readonly wgsl: string
  /** What an Intel GPU is given in its place: in narrower subgroups. */
  readonly wgsl_for_intel?: string
  readonly constants: Readonly<Record<string, number>>
  readonly requires: readonly string[]
  /** Of the storage buffers; binding 0 is a uniform. */
  readonly bindings: readonly string[]
  /** Multiply-adds of a lane in one stage of a staged product. */
  readonly stage_fmas?: number
}

/** Columns of a row and channels of a head: preset tiny, preset A, the presets' larger models,
 * models of 135M and 600M. */
const ATTENTION = [
  { width: 16, head_dim: 8 },
  { width: 16, head_dim: 16 },
  { width: 64, head_dim: 32 },
  { width: 512, head_dim: 64 },
  { width: 2048, head_dim: 128 },
]

/** Products of a weight that may be kept in bfloat16, on the variants for large ones. */
const HALVED = /^matmul_n[nt]\w*_staged_(64x64|128x128)_8x8$/

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
  const others = Object.values(modules).flatMap((module) =>
    Object.values(module)
      .flatMap((x) => (Array.isArray(x) ? x : [x]))
      .filter(isKernel),
  )
  const halves = [...products, ...fused]
    .filter(({ name }) => HALVED.test(name))
    .map((kernel) => forWeight(kernel, { dtype: 'bfloat16' }))
  const all = [...products, ...fused, ...halves, ...attention, ...others]
  const listed = all.map((kernel) => reported(kernel.onGpu ?? kernel))
  return [...new Map(listed.reverse().map((kernel) => [kernel.name, kernel])).values()].reverse()
}

function reported(kernel: AnyKernel): ReportedKernel {
  const { name, constants = {}, requires = [], bindings } = kernel
  const [, variant = ''] = /_(staged_\w+?)(_bf16)?$/.exec(name) ?? []
  const { rows = 0, cols = 0, stage = 0 } = TILES[variant] ?? {}
  return {
    name,
    wgsl: wholeText(kernel),
    ...(kernel.manyRegisters && {
      wgsl_for_intel: inSubgroupsOf(INTEL_LANES, wholeText(kernel)),
    }),
    constants,
    requires,
    bindings: Object.values(bindings).map(accessOf),
    ...(stage > 0 && { stage_fmas: rows * cols * stage }),
  }
}
