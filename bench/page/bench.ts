// Opens the page that scripts/bench.mjs drives: it puts the measurements where the driver can call
// them.
import { benchFeatures } from './features.ts'
import { benchMatmul, matmulShapes } from './matmul.ts'
import { benchModels, modelNames } from './models.ts'
import { benchParts } from './parts.ts'
import { recordSteps } from './recorded.ts'
import { benchScaling, scalingAxes } from './scaling.ts'
import { benchSft } from './sft.ts'
import { benchTraining } from './training.ts'
import { benchVariants } from './variants.ts'

async function adapter(): Promise<string | undefined> {
  const info = (await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' }))?.info
  return info && [info.vendor, info.architecture, info.description].filter(Boolean).join(' ')
}

const bench = {
  adapter,
  matmulShapes,
  matmul: benchMatmul,
  sft: benchSft,
  training: benchTraining,
  parts: benchParts,
  features: benchFeatures,
  scalingAxes,
  scaling: benchScaling,
  modelNames,
  models: benchModels,
  recordSteps,
  variants: benchVariants,
}
Object.assign(globalThis, { bench })
