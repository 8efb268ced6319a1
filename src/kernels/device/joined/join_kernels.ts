// Joins several kernels into one: a dispatch whose first workgroups run the first kernel, the next
// ones the second, and so on. On a GPU a dispatch of a small model leaves most of it idle, and
// every dispatch waits for the one before it.
import {
  type AnyKernel,
  accessOf,
  type Binding,
  type Cost,
  elementOf,
  foldGrid,
  type Names,
  type ParamType,
} from '../base/kernel.ts'
import { costOf } from '../timing/cost.ts'
import {
  ELEMENT_BYTES,
  type KernelParts,
  kernelParts,
  type WorkgroupArray,
} from './kernel_parts.ts'

/** WebGPU's default limits. */
const MAX_BINDINGS = 8
const MAX_WORKGROUP_BYTES = 16384
/** Scalars that a params slot holds. */
const MAX_PARAMS = 64

/** Names of a binding of part i. */
export const bindingOf = (i: number, name: string): string => `p${i}_${name}`
/** Params of part i: its kernel's own, and its grid. */
export const paramOf = bindingOf
export const GRID_PARAMS = ['workgroups', 'workgroups_x', 'workgroups_y'] as const

/** A binding of part i for which an earlier part's stands: both have the same elements. */
export type Shared = ReadonlyMap<string, string>

const known = new WeakMap<AnyKernel, { readonly parts: KernelParts | undefined }>()
const made = new Map<string, AnyKernel>()

/** A kernel's text, read once. */
function partsOf(kernel: AnyKernel): KernelParts | undefined {
  let entry = known.get(kernel)
  if (!entry) {
    entry = { parts: kernelParts(kernel) }
    known.set(kernel, entry)
  }
  return entry.parts
}

/** Whether both parts' bindings have one WGSL type, so that one can stand for the other. */
export function sameType(a: AnyKernel, aName: string, b: AnyKernel, bName: string): boolean {
  const element = elementOf(a.bindings[aName])
  return element === elementOf(b.bindings[bName]) && !partsOf(a)?.names.some(isIn(element))
}

const isIn = (text: string) => (name: string) => new RegExp(`\\b${name}\\b`).test(text)

/** Whether these kernels can be one, with that many storage buffers in all. */
export function canJoin(kernels: readonly AnyKernel[], bindings: number): boolean {
  if (bindings > MAX_BINDINGS) return false
  const all = kernels.map(partsOf)
  const lanes = Math.max(...all.map((part) => part?.lanes ?? 0))
  let params = 0
  for (const part of all) {
    // Lanes past a kernel's own wait at none of its barriers.
    if (!part || (part.lanes !== lanes && part.hasBarriers)) return false
    params += Object.keys(part.kernel.params).length + GRID_PARAMS.length
  }
  const bytes = [...pooled(all.map((part) => part?.arrays ?? [])).values()]
    .map(({ element, length }) => ELEMENT_BYTES[element] * length)
    .reduce((a, b) => a + b, 0)
  return bytes <= MAX_WORKGROUP_BYTES && params <= MAX_PARAMS
}

/** The part's array of each kind that comes n-th has a place of its own in the whole. */
const placeOf = (arrays: readonly WorkgroupArray[], at: number): string => {
  const { element } = arrays[at]
  return `pool_${element}_${arrays.slice(0, at).filter((array) => array.element === element).length}`
}

/** Workgroup memory of the whole, by name: a workgroup runs one part, so parts use the same
 * arrays. */
function pooled(
  parts: readonly (readonly WorkgroupArray[])[],
): ReadonlyMap<string, WorkgroupArray> {
  const pool = new Map<string, WorkgroupArray>()
  for (const arrays of parts)
    arrays.forEach(({ element, length }, at) => {
      const name = placeOf(arrays, at)
      pool.set(name, { name, element, length: Math.max(length, pool.get(name)?.length ?? 0) })
    })
  return pool
}

/** The kernel that does what `kernels` do, which canJoin allowed. Each part's code is unchanged but
 * for its names, and its workgroups see the place and the grid that they see alone: the results are
 * the same bits, up to what a compiler makes of the same text. */
export function joinKernels(kernels: readonly AnyKernel[], shared: Shared): AnyKernel {
  const pattern = [...shared].map((pair) => pair.join('=')).join()
  const name = `${kernels.map(({ name }) => name).join(' + ')}${pattern && ` (${pattern})`}`
  const before = made.get(name)
  if (before) return before
  const joined = join(name, kernels, shared)
  made.set(name, joined)
  return joined
}

function join(name: string, kernels: readonly AnyKernel[], shared: Shared): AnyKernel {
  const all = kernels.map((kernel) => {
    const parts = partsOf(kernel)
    if (!parts) throw new Error(`${kernel.name}: cannot be part of another kernel`)
    return parts
  })
  const params: Record<string, ParamType> = {}
  const bindings: Record<string, Binding> = {}
  const constants: Record<string, number> = {}
  kernels.forEach((kernel, i) => {
    for (const [param, type] of Object.entries(kernel.params)) params[paramOf(i, param)] = type
    for (const param of GRID_PARAMS) params[paramOf(i, param)] = 'u32'
    for (const [own, binding] of Object.entries(kernel.bindings)) {
      const element = renamed(elementOf(binding), all[i], i, shared)
      if (!shared.has(bindingOf(i, own)))
        bindings[bindingOf(i, own)] = `${accessOf(binding)} ${element}`
    }
    for (const [constant, value] of Object.entries(kernel.constants ?? {}))
      constants[`${constant}_${i}`] = value
  })
  const requires = [...new Set(kernels.flatMap(({ requires = [] }) => requires))]
  return {
    name,
    wgsl: source(all, shared),
    ...(Object.keys(constants).length ? { constants } : {}),
    ...(requires.length ? { requires } : {}),
    ...(asksForLanes(kernels) && { manyRegisters: true as const }),
    params,
    bindings,
    workgroups: (values) =>
      foldGrid(kernels.reduce((sum, _, i) => sum + values[paramOf(i, 'workgroups')], 0)),
    cost: (values) => costOfAll(kernels, values),
  }
}

/** One that holds many numbers decides, but for those that count on what subgroups they get. */
const asksForLanes = (kernels: readonly AnyKernel[]): boolean =>
  kernels.some(({ manyRegisters }) => manyRegisters) &&
  !kernels.some(({ requires = [] }) => requires.includes('subgroups'))

function source(all: readonly KernelParts[], shared: Shared): string {
  const lanes = Math.max(...all.map((part) => part.lanes))
  const passed = new Set(['workgroup_id', 'num_workgroups', 'local_invocation_index'])
  for (const { builtins } of all)
    for (const { builtin } of builtins) if (builtin !== 'global_invocation_id') passed.add(builtin)
  const inputs = [...passed].map(
    (builtin) => `  @builtin(${builtin}) at_${builtin}: ${typed(builtin)},`,
  )
  return `${[...new Set(all.flatMap(({ directives }) => directives))].join('\n')}
${[...pooled(all.map(({ arrays }) => arrays)).values()]
  .map(({ name, element, length }) => `var<workgroup> ${name}: array<${element}, ${length}>;`)
  .join('\n')}
${all.map((part, i) => renamed(part.declarations, part, i, shared)).join('\n')}
@compute @workgroup_size(${lanes})
fn main(
${inputs.join('\n')}
) {
  var place = at_workgroup_id.x + at_workgroup_id.y * at_num_workgroups.x;
${all.map((part, i) => branch(part, i, lanes, shared)).join('')}${'}'.repeat(all.length - 1)}
}
`
}

/** Runs part i in the workgroups that are its own; the parts after it come in an else, because what
 * follows an `if` in which some lanes return is no place for barriers. */
function branch(part: KernelParts, i: number, lanes: number, shared: Shared): string {
  const [groups, x, y] = GRID_PARAMS.map((param) => `params.${paramOf(i, param)}`)
  const group = `vec3u(place % ${x}, place / ${x} % ${y}, place / (${x} * ${y}))`
  const inputs = part.builtins.map(({ builtin, name: own }) => {
    const name = renamed(own, part, i, shared)
    if (builtin === 'workgroup_id') return `let ${name} = ${group};`
    if (builtin === 'num_workgroups')
      return `let ${name} = vec3u(${x}, ${y}, ${groups} / (${x} * ${y}));`
    if (builtin === 'global_invocation_id')
      return `let ${name} = ${group} * vec3u(${part.lanes}u, 1u, 1u) + vec3u(at_local_invocation_index, 0u, 0u);`
    return `let ${name} = at_${builtin};`
  })
  const guard =
    part.lanes < lanes ? `if (at_local_invocation_index >= ${part.lanes}u) { return; }\n` : ''
  const before = i > 0 ? ` else {\nplace -= params.${paramOf(i - 1, 'workgroups')};\n` : ''
  return `${before}if (place < ${groups}) {
${guard}${inputs.join('\n')}
{${renamed(part.body, part, i, shared)}}
}`
}

const typed = (builtin: string) =>
  builtin === 'workgroup_id' || builtin === 'num_workgroups' || builtin === 'local_invocation_id'
    ? 'vec3u'
    : 'u32'

/** A part's text with names of its own: declarations get its number, bindings and params theirs in
 * the whole. */
function renamed(text: string, part: KernelParts, i: number, shared: Shared): string {
  const names = new Map(part.names.map((name) => [name, `${name}_${i}`]))
  part.arrays.forEach(({ name }, at) => {
    names.set(name, placeOf(part.arrays, at))
  })
  for (const name of Object.keys(part.kernel.bindings)) {
    const own = bindingOf(i, name)
    names.set(name, shared.get(own) ?? own)
  }
  const fields = /(struct\s+\w+\s*\{)([^}]*)\}/g
  // A field keeps its name, as a place behind a dot does.
  const kept = text.replace(
    fields,
    (_, head, inner) => `${head}${inner.replace(/(\w+)(\s*:)/g, '.$1$2')}}`,
  )
  const own = kept.replace(/(?<![.\w])(params\s*\.\s*)?([A-Za-z_]\w*)/g, (all, params, name) =>
    params ? `params.${paramOf(i, name)}` : (names.get(name) ?? all),
  )
  return own.replace(
    fields,
    (_, head, inner) => `${head}${inner.replace(/\.(\w+)(\s*:)/g, '$1$2')}}`,
  )
}

/** What the parts cost together; of those alone that say it, NaN where none does. */
function costOfAll(kernels: readonly AnyKernel[], values: Names<number>): Cost {
  const costs = kernels.flatMap((kernel, i) => {
    const own = Object.keys(kernel.params).map((name) => [name, values[paramOf(i, name)]] as const)
    return costOf(kernel, Object.fromEntries(own)) ?? []
  })
  if (costs.length === 0) return { flops: Number.NaN, bytes: Number.NaN }
  return costs.reduce((a, b) => ({ flops: a.flops + b.flops, bytes: a.bytes + b.bytes }))
}
