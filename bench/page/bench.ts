// The page that scripts/bench.mjs drives: it puts the measurements where the driver can call them.
import { benchMatmul, type MatmulRow, openPeers } from './matmul.ts'
import { benchTraining, type TrainingRow } from './training.ts'

export interface Bench {
  readonly adapter: () => Promise<string | undefined>
  readonly matmul: (sizes: readonly number[]) => Promise<MatmulRow[]>
  readonly training: (preset_id: string) => Promise<TrainingRow>
}

async function matmul(sizes: readonly number[]): Promise<MatmulRow[]> {
  const gpu = await openPeers()
  const rows: MatmulRow[] = []
  for (const n of sizes) rows.push(await benchMatmul(gpu, n))
  gpu.destroy()
  return rows
}

async function adapter(): Promise<string | undefined> {
  const info = (await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' }))?.info
  return info && [info.vendor, info.architecture, info.description].filter(Boolean).join(' ')
}

Object.assign(globalThis, { bench: { adapter, matmul, training: benchTraining } satisfies Bench })
