// Runs a kernel in subgroups of a size that it asks for, as those with many registers do on Intel.
import { expect, test } from 'vitest'
import { swiglu_forward } from '../swiglu/swiglu.ts'
import { randomValues } from '../testing.ts'
import { inSubgroupsOf } from './base/kernel.ts'
import { INTEL_LANES } from './features.ts'
import { Gpu } from './gpu.ts'

const gpu = await Gpu.open()
const { subgroupMinSize = 0, subgroupMaxSize = 0 } =
  (await navigator.gpu.requestAdapter())?.info ?? {}
/** lavapipe has subgroups of 8, SwiftShader has those of 4 alone. */
const hasSize =
  gpu.facts.features.includes('subgroup-size-control') &&
  subgroupMinSize <= INTEL_LANES &&
  INTEL_LANES <= subgroupMaxSize

test.skipIf(!hasSize || !gpu.facts.is_software)(
  'a kernel in subgroups of 8 gives the bits of the plain one',
  async () => {
    const [rows, intermediate_size] = [5, 13]
    const text = inSubgroupsOf(INTEL_LANES, swiglu_forward.wgsl)
    const sized = { ...swiglu_forward, name: 'swiglu_forward_of_8', wgsl: text }
    const results = []
    for (const kernel of [swiglu_forward, sized]) {
      const data = randomValues(2 * rows * intermediate_size, 1)
      const gate_up = gpu.tensor('gate_up', 'f32', [data.length], { data })
      const out = gpu.tensor('out', 'f32', [rows * intermediate_size])
      await gpu.run(kernel, { rows, intermediate_size }, { gate_up, out })
      results.push((await gpu.read(out))[0])
    }
    expect(results[1]).toEqual(results[0])
    expect(results[0].some((x) => x !== 0)).toBe(true)
  },
)
