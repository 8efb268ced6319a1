// Opens the page that scripts/bench.mjs drives: it puts the measurements where the driver can call
// them.
import { isSoftware } from '../../src/kernels/device/adapter.ts'
import { benchFeatures } from './features.ts'
import { benchLimits } from './limits.ts'
import { benchMatmul, matmulShapes } from './matmul.ts'
import { benchModels, modelNames } from './models.ts'
import { benchParts } from './parts.ts'
import { benchProduct, productShapes } from './products.ts'
import { recordSteps } from './recorded.ts'
import { benchScaling, scalingAxes } from './scaling.ts'
import { benchSft } from './sft.ts'
import { benchTraining } from './training.ts'
import { benchVariants } from './variants.ts'

/** What the page's adapter calls itself; undefined where there is none. */
async function adapter() {
  const found = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' })
  if (!found) return undefined
  const { vendor, architecture, device, description } = found.info
  return {
    name: [vendor, architecture, description].filter(Boolean).join(' '),
    isSoftware: isSoftware(found.info),
    info: { vendor, architecture, device, description, features: [...found.features].sort() },
  }
}

const bench = {
  adapter,
  matmulShapes,
  matmul: benchMatmul,
  sft: benchSft,
  training: benchTraining,
  parts: benchParts,
  limits: benchLimits,
  features: benchFeatures,
  scalingAxes,
  scaling: benchScaling,
  modelNames,
  models: benchModels,
  productShapes,
  product: benchProduct,
  recordSteps,
  variants: benchVariants,
}
Object.assign(globalThis, { bench })
