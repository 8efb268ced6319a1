// Makes products whose second factor, a layer's weight, is kept in bfloat16: any kernel that reads
// it as `b`, made to read halves.
import { type AnyKernel, type Cost, elementOf, withElements } from '../device/base/kernel.ts'
import type { Tensor } from '../device/base/tensor.ts'
import { costOf } from '../device/timing/cost.ts'

/** Of what `b` is in float32, what its elements are in halves, and the function that reads them. */
const READERS: Readonly<Record<string, { readonly element: string; readonly read: string }>> = {
  vec4f: {
    element: 'vec2u',
    read: `
// Four neighbours of b, of which each u32 holds two: a bfloat16 is the upper half of a float32.
fn b_at(i: u32) -> vec4f {
  let two = b[i];
  return bitcast<vec4f>(vec4u(two.x << 16u, two.x & 0xffff0000u, two.y << 16u, two.y & 0xffff0000u));
}
`,
  },
  f32: {
    element: 'u32',
    read: `
// One of b, of which each u32 holds two: a bfloat16 is the upper half of a float32.
fn b_at(i: u32) -> f32 {
  return bitcast<f32>((b[i / 2u] >> (i % 2u * 16u)) << 16u);
}
`,
  },
}

const READ = /\bb\[([^\]]+)\]/g

/** What reads b in bfloat16 in place of `bindings.b`. Throws where there is no b that it could
 * be. */
function readerOf({ name, bindings }: AnyKernel) {
  const reader = bindings.b && READERS[elementOf(bindings.b)]
  if (!reader) throw new Error(`${name}: expected a product with the binding b, found none`)
  return reader
}

/** The kernel's cost with two bytes for each number of b: [n, k] or [k, n], or for a forward SwiGLU
 * [2n, k]. */
const withoutHalf =
  (kernel: AnyKernel) =>
  (params: Readonly<Record<string, number>>): Cost => {
    const { flops, bytes } = costOf(kernel, params) ?? { flops: Number.NaN, bytes: Number.NaN }
    const halves = /^(matmul_nt|decode)_swiglu/.test(kernel.name) ? 2 : 1
    return { flops, bytes: bytes - 2 * halves * params.n * params.k }
  }

const made = new Map<string, AnyKernel>()

/** The kernel of a product for the weight that is bound as its `b`: itself for float32, for one of
 * bfloat16 its twin, which gives the bits of the kernel on the same numbers in float32. For
 * matmulKernel, fusedKernel and decodeLinearKernel. */
export function forWeight<K extends object>(kernel: K, { dtype }: Pick<Tensor, 'dtype'>): K {
  if (dtype !== 'bfloat16') return kernel
  const plain = kernel as unknown as AnyKernel
  const known = made.get(plain.name)
  if (known) return known as unknown as K
  const { name, wgsl, bindings } = plain
  const { element, read } = readerOf(plain)
  const twin: AnyKernel = {
    ...plain,
    name: `${name}_bf16`,
    wgsl: wgsl.replaceAll(READ, 'b_at($1)') + read,
    bindings: withElements(bindings, { b: element }),
    cost: withoutHalf(plain),
  }
  made.set(name, twin)
  return twin as unknown as K
}
