// Takes the text of a kernel apart for another text that contains it: names, lanes, workgroup
// memory, entry point.
import type { AnyKernel } from '../base/kernel.ts'

/** An array of workgroup memory. */
export interface WorkgroupArray {
  readonly name: string
  /** WGSL type of an element. */
  readonly element: string
  readonly length: number
}

/** A kernel, read. */
export interface KernelParts {
  readonly kernel: AnyKernel
  /** `enable …;` and the like, which must come first in a text. */
  readonly directives: readonly string[]
  /** Everything but directives, arrays of workgroup memory and the entry point. */
  readonly declarations: string
  readonly builtins: readonly { readonly builtin: string; readonly name: string }[]
  /** Statements of the entry point. */
  readonly body: string
  /** Invocations of a workgroup. */
  readonly lanes: number
  /** Arrays of workgroup memory, in order. */
  readonly arrays: readonly WorkgroupArray[]
  /** Lanes wait for one another somewhere. */
  readonly hasBarriers: boolean
  /** Names that the text declares outside of functions. */
  readonly names: readonly string[]
}

const MAIN = /@compute\s+@workgroup_size\(\s*(\w+)\s*\)\s*fn\s+main\s*\(([\s\S]*?)\)\s*\{/
const BUILTIN = /@builtin\((\w+)\)\s+(\w+)\s*:/g
const DIRECTIVE = /^\s*(?:enable|requires|diagnostic)\b[^;]*;/gm
const DECLARED = /^\s*(?:struct|alias|const|override|fn|var<\w+>)\s+(\w+)/gm
const WORKGROUP = /var<workgroup>\s+(\w+)\s*:\s*array<\s*(\w+)\s*,\s*([^;]+?)\s*>\s*;/g
/** Bytes of what workgroup memory may hold here. */
export const ELEMENT_BYTES: Readonly<Record<string, number>> = {
  f32: 4,
  u32: 4,
  vec2f: 8,
  vec2u: 8,
  vec4f: 16,
  vec4u: 16,
}

/** Reads a kernel; undefined for one that this file does not understand, which then stays a
 * dispatch of its own. */
export function kernelParts(kernel: AnyKernel): KernelParts | undefined {
  const wgsl = kernel.wgsl.replace(/\/\/[^\n]*/g, '').replaceAll('\r', '')
  const main = MAIN.exec(wgsl)
  if (!main || /\bparams\b(?!\s*[.:])/.test(wgsl)) return undefined
  const start = main.index + main[0].length
  const end = closing(wgsl, start)
  const outside = wgsl.slice(0, main.index) + wgsl.slice(end + 1)
  const numbers = constantsOf(outside, kernel.constants ?? {})
  const lanes = evaluate(main[1], numbers)
  const arrays = [...outside.matchAll(WORKGROUP)].flatMap(([, name, element, count]) => {
    const length = evaluate(count, numbers)
    return element in ELEMENT_BYTES && length !== undefined ? [{ name, element, length }] : []
  })
  const declared = outside.match(/var<workgroup>/g)?.length ?? 0
  if (lanes === undefined || arrays.length !== declared) return undefined
  // Whole subgroups of a fixed workgroup multiply them.
  if (wgsl.includes('subgroupMatrix')) return undefined
  const declarations = outside.replace(DIRECTIVE, '').replace(WORKGROUP, '')
  return {
    kernel,
    directives: (outside.match(DIRECTIVE) ?? []).map((line) => line.trim()),
    declarations,
    builtins: [...main[2].matchAll(BUILTIN)].map(([, builtin, name]) => ({ builtin, name })),
    body: wgsl.slice(start, end),
    lanes,
    arrays,
    hasBarriers: /Barrier\(|workgroupUniformLoad|subgroup/.test(wgsl),
    names: [...declarations.matchAll(DECLARED)].map(([, name]) => name),
  }
}

/** Where the brace that opened before `from` closes. */
function closing(wgsl: string, from: number): number {
  let depth = 1
  for (let i = from; i < wgsl.length; i++) {
    if (wgsl[i] === '{') depth++
    else if (wgsl[i] === '}' && --depth === 0) return i
  }
  return wgsl.length
}

/** Whole numbers that the text names: constants, and overrides with what the kernel sets them
 * to. */
function constantsOf(
  wgsl: string,
  set: Readonly<Record<string, number>>,
): ReadonlyMap<string, number> {
  const numbers = new Map(Object.entries(set))
  const declared = [...wgsl.matchAll(/(?:const|override)\s+(\w+)[^=;]*=([^;]+);/g)]
  // Twice, because WGSL lets a constant come before what it is made of.
  for (const [, name, text] of [...declared, ...declared]) {
    const value = numbers.has(name) ? undefined : evaluate(text, numbers)
    if (value !== undefined) numbers.set(name, value)
  }
  return numbers
}

/** A product of whole numbers and names of them; undefined for any other text. */
function evaluate(text: string, numbers: ReadonlyMap<string, number>): number | undefined {
  let product = 1
  for (const factor of text.split('*').map((part) => part.trim())) {
    const value = /^\d+u?$/.test(factor) ? Number.parseInt(factor, 10) : numbers.get(factor)
    if (value === undefined) return undefined
    product *= value
  }
  return product
}
