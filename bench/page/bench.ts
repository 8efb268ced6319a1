// The page that scripts/bench.mjs drives: it puts the measurements where the driver can call them.
import { benchMatmul, type MatmulRow, type MatmulShape, matmulShapes } from './matmul.ts'
import { benchSft, type SftRow } from './sft.ts'
import { benchTraining, type TrainingRow } from './training.ts'

export interface Bench {
  readonly adapter: () => Promise<string | undefined>
  readonly matmulShapes: (preset_id: string) => MatmulShape[]
  readonly matmul: (shapes: readonly MatmulShape[]) => Promise<MatmulRow[]>
  readonly sft: (model: string) => Promise<SftRow>
  readonly training: (preset_id: string) => Promise<TrainingRow>
}

async function adapter(): Promise<string | undefined> {
  const info = (await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' }))?.info
  return info && [info.vendor, info.architecture, info.description].filter(Boolean).join(' ')
}

const bench: Bench = {
  ...{ adapter, matmulShapes, matmul: benchMatmul },
  ...{ sft: benchSft, training: benchTraining },
}
Object.assign(globalThis, { bench })
