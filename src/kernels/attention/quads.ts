// Writes tiled attention, and that of a decoded token, for heads of whole vectors of four.
import { type AnyKernel, type Binding, type Names, withElements } from '../device/base/kernel.ts'

/** The kernel with the same numbers that reads vectors of four: compilers do not join four reads of
 * neighbours where each could be out of bounds. `CHUNKS` of 16 channels are all that a head has, so
 * no read waits for a test. */
export const inQuads = <K extends Pick<AnyKernel, 'name' | 'wgsl' | 'bindings'>>(
  kernel: K,
  CHUNKS: number,
): K => ({
  ...kernel,
  name: `${kernel.name}_quads_${CHUNKS}`,
  wgsl: kernel.wgsl.replaceAll(
    /\b(fn (qkv|d_out)_at\(i: u32\) -> vec4f) \{.*\}/g,
    '$1 { return $2[i / 4u]; }',
  ),
  bindings: inVectors(kernel.bindings, 'vec4f', ['qkv', 'd_out']),
  constants: { CHUNKS },
})

/** Channels of a head that a workgroup has room for: software adapters compile a store for each. */
const SMALL_HEAD = 64

/** The same for a kernel that reads a cache of keys and values, by the channels of a head. */
export function cacheInQuads<K extends Pick<AnyKernel, 'name' | 'wgsl' | 'bindings'>>(
  kernel: K,
): (headDim: number) => K {
  const large = withCachedVectors(kernel)
  const small = {
    ...large,
    name: `${large.name}_${SMALL_HEAD}`,
    constants: { MOST_CHANNELS: SMALL_HEAD },
  }
  return (headDim) => (headDim <= SMALL_HEAD ? small : large)
}

const withCachedVectors = <K extends Pick<AnyKernel, 'name' | 'wgsl' | 'bindings'>>(
  kernel: K,
): K => ({
  ...kernel,
  name: `${kernel.name}_quads`,
  wgsl: kernel.wgsl
    .replace(/\nfn cached\(.*\n/, '\n')
    .replace(
      /(fn quad\(element: u32, left: u32\) -> vec4f) \{[^}]*\}/,
      '$1 { return unpacked_vector(cache[element / 4u]); }',
    ),
  bindings: inVectors(kernel.bindings, 'CachedVector', ['cache']),
})

/** The same buffers, those of these names in vectors, as far as they are there. */
const inVectors = (bindings: Names<Binding>, element: string, names: readonly string[]) =>
  withElements(
    bindings,
    Object.fromEntries(names.filter((name) => name in bindings).map((name) => [name, element])),
  )
