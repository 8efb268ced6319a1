// Runs the GPU tests with kernels pinned: PINNED_KERNELS names a variant of matrix products, for
// every product of a model that has no choice of its own, or is `tiled`, which leaves narrow
// kernels out of every model.
import { vi } from 'vitest'
import { matmulVariant } from '../kernels/matmul/matmul_variants.ts'

const pinned = process.env.PINNED_KERNELS
if (pinned === 'tiled')
  vi.doMock('../model/layout/config.ts', async (original) => {
    const config = await original<typeof import('../model/layout/config.ts')>()
    const modelShape: typeof config.modelShape = (given) =>
      config.modelShape({ narrowKernels: false, ...given })
    return { ...config, modelShape }
  })
else if (pinned) {
  const { name } = matmulVariant(pinned, 'PINNED_KERNELS')
  vi.doMock('../model/transformer/model.ts', async (original) => {
    const model = await original<typeof import('../model/transformer/model.ts')>()
    const createModel: typeof model.createModel = (alloc, layout, trains, kernels = {}) =>
      model.createModel(alloc, layout, trains, {
        ...kernels,
        matmul: kernels.matmul ?? { '*': name },
      })
    return { ...model, createModel }
  })
}
