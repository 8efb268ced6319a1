// Reads the lenses of --lens: their files, and what a model says when its layers are read through
// them.
import { basename } from 'node:path'
import type { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { HfModel } from '../../model/hf/hf_model.ts'
import type { ModelShape } from '../../model/layout/config.ts'
import { type Lens, lensSize } from '../../model/layout/translators.ts'
import { uploadedLens } from '../../model/lenses/lens.ts'
import { modelHash, readLensFile } from '../../model/lenses/lens_file.ts'
import type { LensRows } from '../../model/lenses/lens_rows.ts'
import { createCompared, LayerReader } from '../../model/lenses/read_layers.ts'
import type { Model } from '../../model/transformer/model.ts'
import { LabFailure } from '../base/command.ts'
import { readInput } from '../input/input_file.ts'
import type { TokenRows } from '../input/token_rows.ts'
import { grid, type ProbeReport, rounded } from '../output/probe_report.ts'

/** Reads files with commas between them. Throws LabFailure for two of one kind, and ModelFileError
 * for a file that is no lens of this model. */
export function givenLenses(files: string, { layout, weights }: HfModel): Lens[] {
  const owner = { shape: layout.shape, hash: modelHash(weights) }
  const lenses = files
    .split(',')
    .map((file) => readLensFile(new Uint8Array(readInput(file)), basename(file), owner))
  if (new Set(lenses.map(({ readout }) => readout)).size < lenses.length)
    throw new LabFailure(`--lens: expected one lens of each kind, got ${files}`)
  return lenses
}

const rowsOf = ({ input_ids, attention_mask, position_ids }: TokenRows): LensRows => ({
  rows: input_ids.length,
  width: input_ids[0].length,
  input_ids: Uint32Array.from(input_ids.flat()),
  attention_mask: Uint32Array.from(attention_mask.flat()),
  position_ids: Uint32Array.from(position_ids.flat()),
})

const readsOf = ({ num_hidden_layers }: ModelShape, lenses: readonly Lens[]) =>
  lenses.flatMap(({ readout }) =>
    Array.from({ length: num_hidden_layers }, (_, layer) => ({ layer, readout })),
  )

/** What this takes, on a plan. */
export function planLenses(
  plan: MemoryPlan,
  { layout: { shape } }: HfModel,
  rows: TokenRows,
  lenses: readonly Lens[],
): void {
  if (lenses.length === 0) return
  const compared = createCompared(plan, shape, rowsOf(rows))
  LayerReader.room(plan, compared, readsOf(shape, lenses).length)
  plan.tensor('lenses', 'f32', [lensSize(shape)])
}

/** `ent_layer_<lens>`, `logp_next_layer_<lens>` and `kl_final_layer_<lens>`: of layers 0 … L − 1,
 * per row and position, in nats; null at padding. */
export async function lensReport(
  gpu: Gpu,
  model: Model,
  batch: TokenRows,
  lenses: readonly Lens[],
): Promise<ProbeReport> {
  const { shape } = model
  const rows = rowsOf(batch)
  const compared = createCompared(gpu, shape, rows)
  const onDevice = Object.fromEntries(
    lenses.map((lens) => [lens.readout, uploadedLens(gpu, shape, lens)]),
  )
  const reads = readsOf(shape, lenses)
  const reader = await LayerReader.create(gpu, { ...model, lenses: onDevice }, compared, reads)
  const found = await reader.columns(rows)
  const { width, attention_mask: mask } = rows
  const table = (x: Float32Array, shown = width) => {
    const values = rounded(x)
    const isShown = (i: number) => mask[i] && (shown === width || mask[i + 1])
    return grid(rows.rows, width, (i) => (isShown(i) ? values[i] : null), shown)
  }
  const report = lenses.flatMap(({ readout }) => {
    const own = found.filter((one) => one.readout === readout)
    return [
      [`ent_layer_${readout}`, own.map(({ entropy }) => table(entropy))],
      [`logp_next_layer_${readout}`, own.map(({ logp_next }) => table(logp_next, width - 1))],
      [`kl_final_layer_${readout}`, own.map(({ kl }) => table(kl))],
    ]
  })
  return Object.fromEntries(report)
}
