// Tiled attention, and that of a decoded token, for heads of whole vectors of four.
import type { Shader } from '../device/kernel.ts'

/** The kernel with the same numbers that reads vectors of four: compilers do not join four reads of
 * neighbours where each could be out of bounds. `CHUNKS` of 16 channels are all that a head has, so
 * no read waits for a test. */
export const inQuads = <K extends Shader>(kernel: K, CHUNKS: number): K => ({
  ...kernel,
  name: `${kernel.name}_quads_${CHUNKS}`,
  wgsl: kernel.wgsl
    .replaceAll(/\b(qkv|d_out): array<f32>;/g, '$1: array<vec4f>;')
    .replaceAll(/\b(fn (qkv|d_out)_at\(i: u32\) -> vec4f) \{.*\}/g, '$1 { return $2[i / 4u]; }'),
  constants: { CHUNKS },
})

/** The same for a kernel that reads a cache of keys and values. */
export const cacheInQuads = <K extends Shader>(kernel: K): K => ({
  ...kernel,
  name: `${kernel.name}_quads`,
  wgsl: kernel.wgsl
    .replace('cache: array<Cached>;', 'cache: array<CachedVector>;')
    .replace(/\nfn cached\(.*\n/, '\n')
    .replace(
      /(fn quad\(element: u32, left: u32\) -> vec4f) \{[^}]*\}/,
      '$1 { return unpacked_vector(cache[element / 4u]); }',
    ),
})
