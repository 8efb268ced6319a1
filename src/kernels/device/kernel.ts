// How a kernel is declared: its WGSL, its params and its bindings, as data.

/** What WebGPU offers on some adapters only; of subgroup matrices, blocks of a type and a size
 * (features.ts). */
export type Feature = 'subgroups' | 'shader-f16' | 'subgroup-matrix-f16' | 'subgroup-matrix-f32'

/** A number handed to a kernel. */
export type ParamType = 'f32' | 'u32'
export type Access = 'read' | 'read_write'
/** A record with any names. */
export type Names<T> = { readonly [name: string]: T }

/** What the compiler needs of a kernel. */
export interface Shader {
  /** Same as the .wgsl file's stem, plus its variant; labels the pipeline and is its cache key. */
  readonly name: string
  readonly wgsl: string
  /** WGSL `override` constants. A kernel with other constants is another kernel: give it another
   * name. */
  readonly constants?: Record<string, number>
  /** What the device must have; its WGSL begins with the `enable` of each. Where it has not,
   * compiling is a GpuError. */
  readonly requires?: readonly Feature[]
}

/** What one call must do at the least. */
export interface Cost {
  /** Floating-point operations; a multiply-add counts two. Padding counts like any other token. */
  readonly flops: number
  /** Bytes read and written, each value once, as if all that is read again came from a cache. */
  readonly bytes: number
}

export interface Kernel<P extends Names<ParamType>, B extends Names<Access>> extends Shader {
  /** Fields of `struct Params`, in order. Bound at @binding(0). */
  readonly params: P
  /** Storage buffers, in order, bound at @binding(1..). At most 8. */
  readonly bindings: B
  /** Which part of a binding the kernel writes, where it is not all of it: kernels that write
   * different parts of a tensor, and read none of it, are independent. */
  readonly writes?: { readonly [K in keyof B]?: string }
  /** Grid of workgroups. Where it asks for a param that is live, it is worked out at each
   * replay. */
  readonly workgroups: (params: { [K in keyof P]: number }) => readonly [number, number?, number?]
  /** For the profiler; a kernel without it shows its time alone. */
  readonly cost?: (params: { [K in keyof P]: number }) => Cost
}

/** Any kernel, for lists of them. */
export type AnyKernel = Kernel<Names<ParamType>, Names<Access>>

/** Checks a kernel's declaration and infers its names, so that `run` can hold callers to them. */
export function defineKernel<const P extends Names<ParamType>, const B extends Names<Access>>(
  kernel: Kernel<P, B>,
): Kernel<P, B> {
  return kernel
}

/** WebGPU's limit of workgroups per dimension. */
export const MAX_GRID = 65535

/** Folds a count of workgroups into two dimensions, because each holds at most 65,535.
 * The kernel recovers the index as `group.x + group.y * grid.x` and guards the overhang. */
export function foldGrid(groups: number): [number, number] {
  if (groups <= MAX_GRID) return [groups, 1]
  const y = Math.ceil(groups / MAX_GRID)
  return [Math.ceil(groups / y), y]
}
