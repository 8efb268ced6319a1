// Every matrix product that a preset takes on a GPU, held to docs/log/gpu.md's bars by the variants
// that it can run on.
import { expect, test } from 'vitest'
import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import { PRESETS } from '../../src/document/presets/presets.ts'
import { gpuChoice } from '../../src/kernels/matmul/gpu_variants.ts'
import { matmulVariant, shapeClass } from '../../src/kernels/matmul/matmul_variants.ts'
import { runProducts } from '../../src/rl/train/tuning.ts'

/** Those that tools/gpu_report/report.mjs holds to the bars. */
const HELD = ['staged_64x64_8x8', 'staged_128x128_8x8'].map((name) => matmulVariant(name))
const SOFTWARE = /^(vector|register)_/
const gpus = [[], ['subgroups']].map((features) => ({ is_software: false, features }))

test.for(PRESETS)(
  '$id: products run on variants that hold the bars, and begin on none of a software adapter’s',
  ({ experiment }) => {
    const products = runProducts(trainerConfig(experiment))
    for (const gpu of gpus) {
      const choice = gpuChoice(products, gpu)
      for (const product of products) {
        const { op, m, n, k } = product
        const inFours = (op === 'tn' ? m : k) % 4 === 0 && n % 4 === 0
        const name = shapeClass(op, product)
        expect(
          HELD.every(({ supports }) => supports(op, product)),
          name,
        ).toBe(inFours)
        if (inFours) expect(choice[name], name).not.toMatch(SOFTWARE)
      }
    }
  },
)
