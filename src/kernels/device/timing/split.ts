// Splits one dispatch into several parts: the same kernel over parts of its grid.
import type { AnyKernel } from '../base/kernel.ts'
import { type Grid, SLOT_BYTES } from '../base/program.ts'

/** Further params of a part's kernel: where the part begins, and how large the whole grid is. */
const PART_PARAMS = { part_x: 'u32', part_y: 'u32', grid_x: 'u32', grid_y: 'u32' } as const
/** Other builtins that depend on a workgroup's place in the grid. None of our kernels asks for
 * them. */
const UNKNOWN_PLACES = ['workgroup_index', 'global_invocation_index']

/** Parameters and opening brace of the entry point. */
const MAIN = /(fn\s+main\s*\()([\s\S]*?)(\)\s*\{)/
const BUILTIN = /@builtin\((\w+)\)\s+(\w+)/g

/** The kernel that does one part of `kernel`'s grid: the same code, where four more params (part_x,
 * part_y, grid_x, grid_y) turn a workgroup's place in the part into its place in the whole. So
 * every workgroup computes the same as before, from the same values in the same order, and the
 * results are the same bits. Builtins and params stay uniform, and barriers stay allowed.
 *
 * Undefined for a kernel that does not ask where in the grid it is (one workgroup does it all), or
 * asks for a builtin that this file does not know, or has no room for the params. */
export function splitKernel(kernel: AnyKernel): AnyKernel | undefined {
  const { wgsl, params } = kernel
  const [, , signature = ''] = wgsl.match(MAIN) ?? []
  const builtins = [...signature.matchAll(BUILTIN)].map(([, builtin, name]) => ({ builtin, name }))
  const places = builtins.map(({ builtin, name }) => placeInWhole(builtin, name, wgsl))
  const knowsPlace = builtins.some(({ builtin }) =>
    ['workgroup_id', 'global_invocation_id'].includes(builtin),
  )
  const fields = Object.keys(params).length + Object.keys(PART_PARAMS).length
  if (!knowsPlace || places.includes(undefined) || fields * 4 > SLOT_BYTES) return undefined
  const moved = builtins.filter((_, i) => places[i] !== '').map(({ name }) => name)
  const renamed = signature.replaceAll(BUILTIN, (whole, builtin, name) =>
    moved.includes(name) ? `@builtin(${builtin}) part_${name}` : whole,
  )
  return {
    ...kernel,
    name: `${kernel.name}_part`,
    wgsl: wgsl.replace(
      MAIN,
      (_, open, __, close) => `${open}${renamed}${close}\n${places.join('')}`,
    ),
    params: { ...params, ...PART_PARAMS },
  }
}

/** Declares the builtin's value in the whole grid; '' where that is its value in the part,
 * undefined where it is unknown. */
function placeInWhole(builtin: string, name: string, wgsl: string): string | undefined {
  if (UNKNOWN_PLACES.includes(builtin)) return undefined
  if (builtin === 'workgroup_id')
    return `  let ${name} = part_${name} + vec3u(params.part_x, params.part_y, 0u);\n`
  if (builtin === 'num_workgroups')
    return `  let ${name} = vec3u(params.grid_x, params.grid_y, part_${name}.z);\n`
  if (builtin !== 'global_invocation_id') return ''
  const size = wgsl.match(/@workgroup_size\(\s*(\w+)\s*\)/)?.[1]
  return (
    size && `  let ${name} = part_${name} + vec3u(params.part_x * ${size}, params.part_y, 0u);\n`
  )
}

/** One of the dispatches that a dispatch is cut into. */
export interface Part {
  /** Its first workgroup in the whole grid. */
  readonly first: readonly [x: number, y: number]
  readonly grid: Grid
}

/** Cuts a grid along its larger dimension into `count` even parts, or as many as there are
 * workgroups along it. */
export function parts([x, y, z]: Grid, count: number): Part[] {
  const length = Math.max(x, y)
  const n = Math.min(Math.max(1, Math.floor(count)), length)
  const at = (i: number) => Math.floor((i * length) / n)
  return Array.from({ length: n }, (_, i) => {
    const [first, size] = [at(i), at(i + 1) - at(i)]
    return x >= y
      ? { first: [first, 0], grid: [size, y, z] }
      : { first: [0, first], grid: [x, size, z] }
  })
}

/** Writes the further params of `splitKernel`'s kernel, behind the params of the whole. */
export function setPart(view: DataView, offset: number, part: Part, whole: Grid): void {
  const values = [...part.first, whole[0], whole[1]]
  values.forEach((value, i) => {
    view.setUint32(offset + 4 * i, value, true)
  })
}
