// Declares a kernel as data: its WGSL, its params and its bindings. The part of the WGSL that says
// how it is called is written from them.

/** What WebGPU offers on some adapters only; of subgroup matrices, blocks of a type and a size
 * (features.ts). */
export type Feature = 'subgroups' | 'shader-f16' | 'subgroup-matrix-f16' | 'subgroup-matrix-f32'

/** A number handed to a kernel. */
export type ParamType = 'f32' | 'u32'
export type Access = 'read' | 'read_write'
/** How a kernel uses a storage buffer and, where they are not f32, the WGSL type of its elements:
 * `read`, `read_write`, `read u32`, `read_write array<vec4f, 8>`. The kernel's text may declare the
 * type. */
export type Binding = Access | `${Access} ${string}`
/** A record with any names. */
export type Names<T> = { readonly [name: string]: T }

/** What the compiler needs of a kernel. */
export interface Shader {
  /** Same as the .wgsl file's stem, plus its variant; labels the pipeline and is its cache key. */
  readonly name: string
  /** What it computes, without its params and bindings, which are declared beside it. */
  readonly wgsl: string
  /** WGSL `override` constants. A kernel with other constants is another kernel: give it another
   * name. */
  readonly constants?: Record<string, number>
  /** What the device must have; its WGSL begins with the `enable` of each. Where it has not,
   * compiling is a GpuError. */
  readonly requires?: readonly Feature[]
  /** Its lanes hold more numbers than fit where they have the fewest registers: there it runs in
   * narrower subgroups, whose lanes have more (`inSubgroupsOf`). */
  readonly manyRegisters?: true
}

/** What one call must do at the least. */
export interface Cost {
  /** Floating-point operations; a multiply-add counts two. Padding counts like any other token. */
  readonly flops: number
  /** Bytes read and written, each value once, as if all that is read again came from a cache. */
  readonly bytes: number
}

export interface Kernel<P extends Names<ParamType>, B extends Names<Binding>> extends Shader {
  /** Numbers that the text reads as `params.<name>`, in order. Bound at @binding(0). */
  readonly params: P
  /** Storage buffers that the text reads as arrays by their names, in order. Bound at
   * @binding(1..). At most 8. */
  readonly bindings: B
  /** Which part of a binding the kernel writes, where it is not all of it: kernels that write
   * different parts of a tensor, and read none of it, are independent. */
  readonly writes?: { readonly [K in keyof B]?: string }
  /** Grid of workgroups. Where it asks for a param that is live, it is worked out at each
   * replay. */
  readonly workgroups: (params: { [K in keyof P]: number }) => readonly [number, number?, number?]
  /** What a GPU runs in its place: a kernel of the same params and bindings, whose sums may be in
   * another order. */
  readonly onGpu?: AnyKernel
  /** For the profiler; a kernel without it shows its time alone. */
  readonly cost?: (params: { [K in keyof P]: number }) => Cost
}

/** Any kernel, for lists of them. */
export type AnyKernel = Kernel<Names<ParamType>, Names<Binding>>

/** Checks a kernel's declaration and infers its names, so that `run` can hold callers to them.
 * Kernels with the same names have one type, whatever their elements are. */
export function defineKernel<const P extends Names<ParamType>, const B extends Names<Binding>>(
  kernel: Kernel<P, B>,
): Kernel<P, { readonly [K in keyof B]: Binding }> {
  return kernel
}

/** Whether a kernel may write the buffer. */
export const accessOf = (binding: Binding): Access => split(binding)[0]

/** WGSL type of the buffer's elements. */
export const elementOf = (binding: Binding): string => split(binding)[1]

function split(binding: Binding): [Access, string] {
  const space = binding.indexOf(' ')
  if (space < 0) return [binding as Access, 'f32']
  return [binding.slice(0, space) as Access, binding.slice(space + 1)]
}

/** The same buffers, some of them with elements of another type: a kernel that reads them in
 * vectors, or in half the memory. Throws for a buffer that is not there. */
export function withElements<B extends Names<Binding>>(
  bindings: B,
  elements: { readonly [K in keyof B]?: string },
): { readonly [K in keyof B]: Binding } {
  const typed = Object.entries(elements).map(([name, element]) => {
    const binding = bindings[name]
    if (!binding) throw new Error(`There is no binding ${name} to be of ${element}`)
    return [name, `${accessOf(binding)} ${element}`]
  })
  return { ...bindings, ...Object.fromEntries(typed) }
}

/** `struct Params` and the bindings of a kernel. */
export function interfaceOf({ params, bindings }: Pick<AnyKernel, 'params' | 'bindings'>): string {
  const fields = Object.entries(params).map(([name, type]) => `  ${name}: ${type},\n`)
  const buffers = Object.entries(bindings).map(([name, binding], i) => {
    const kind = `var<storage, ${accessOf(binding)}>`
    return `@group(0) @binding(${i + 1}) ${kind} ${name}: array<${elementOf(binding)}>;\n`
  })
  return `struct Params {
${fields.join('')}}
@group(0) @binding(0) var<uniform> params: Params;
${buffers.join('')}`
}

/** All that a compiler is given. The interface comes last: lines that a compiler names are those of
 * `wgsl`, and what a text enables stands first. */
export const wholeText = (kernel: Pick<AnyKernel, 'wgsl' | 'params' | 'bindings'>): string =>
  `${kernel.wgsl}\n${interfaceOf(kernel)}`

/** The same text in subgroups of so many lanes, on a device with 'subgroup-size-control'. */
export const inSubgroupsOf = (lanes: number, text: string): string =>
  `enable subgroup_size_control;\n${text.replace(/@workgroup_size\([^)]*\)/, `$& @subgroup_size(${lanes})`)}`

/** WebGPU's limit of workgroups per dimension. */
export const MAX_GRID = 65535

/** Folds a count of workgroups into two dimensions, because each holds at most 65,535.
 * The kernel recovers the index as `group.x + group.y * grid.x` and guards the overhang. */
export function foldGrid(groups: number): [number, number] {
  if (groups <= MAX_GRID) return [groups, 1]
  const y = Math.ceil(groups / MAX_GRID)
  return [Math.ceil(groups / y), y]
}
