// Runs passes with changes on the kernels: one recorded program, whose table is written between its
// replays.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { RefEdit } from '../../src/model/interventions/edits.ref.ts'
import {
  type Change,
  createInterventions,
  writeInterventions,
} from '../../src/model/interventions/intervention_tensors.ts'
import type { RefBatch } from '../../src/model/transformer/operations.ref.ts'
import { uploadRows } from '../../src/model/transformer/rows.ts'
import { forward } from '../../src/model/transformer/transformer.ts'
import { createWorkspace } from '../../src/model/transformer/workspace.ts'
import { uploadCase } from '../hf/gpu_model.ts'
import type { InterventionCase, Runner, States } from './intervention_case.ts'

/** At most two changes at once: noise, and what is restored in it. */
const CHANGES = 2

/** Passes on an adapter. */
export function gpuRunner(c: InterventionCase, gpu: Gpu): Runner {
  const passes = new Map<RefBatch, ReturnType<typeof recordPass>>()
  return {
    on: 'gpu',
    run: async (rows, edits) => {
      const pass = passes.get(rows) ?? recordPass(c, gpu, rows)
      passes.set(rows, pass)
      return (await pass)(edits)
    },
  }
}

async function recordPass(c: InterventionCase, gpu: Gpu, batch: RefBatch) {
  const { rows, width } = batch
  const tokens = rows * width
  const { shape } = c
  const values = CHANGES * tokens * shape.hidden_size
  const interventions = createInterventions(gpu, shape, { changes: CHANGES, values, tokens })
  const model = { ...uploadCase(c, gpu), interventions }
  // A pass that keeps the residual stream of every layer.
  const ws = createWorkspace(gpu, shape, { rows, width, response_length: 0, trains: true })
  const u32 = (x: ArrayLike<number>) => Uint32Array.from(x)
  uploadRows(gpu, ws, {
    input_ids: u32(batch.input_ids),
    attention_mask: u32(batch.attention_mask),
    position_ids: u32(batch.position_ids),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  })
  const program = await gpu.record('interventions', [], (r) => forward(r, model, ws))
  return async (edits: readonly RefEdit[]): Promise<States> => {
    writeInterventions(
      gpu,
      interventions,
      shape,
      edits.map((edit) => changeOf(edit, tokens)),
    )
    gpu.replay(program)
    const hidden = await gpu.read(...ws.hidden)
    return hidden.map((x) =>
      Float64Array.from(x, (value, i) =>
        batch.attention_mask[Math.floor(i / shape.hidden_size)] ? value : 0,
      ),
    )
  }
}

const changeOf = (edit: RefEdit, tokens: number): Change => ({
  where: edit.where,
  layer: edit.layer,
  head: edit.head,
  adds: edit.adds ?? false,
  values: Float32Array.from(edit.values),
  ...(edit.isChosen && {
    chosen: Uint32Array.from({ length: tokens }, (_, m) => Number(edit.isChosen?.(m))),
  }),
})
