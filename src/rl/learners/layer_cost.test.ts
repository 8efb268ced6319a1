// Tests the cost of a step of an inner layer: recorded without a device, and added up by the
// kernels' own costs.
import { expect, test } from 'vitest'
import {
  collect,
  type Dispatch,
  type LiveValues,
  readParams,
  setScalar,
} from '../../kernels/device/base/program.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { costOf } from '../../kernels/device/timing/cost.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { RlPhase } from '../config/phase.ts'
import { CONFIG, RL } from '../testing.ts'
import { createActorTensors } from './actor_tensors.ts'
import { phaseRows } from './base/batch_rows.ts'
import { objectiveOf } from './objective.ts'
import { recordPass, recordUpdate, type ScoreLive, type UpdateLive } from './programs.ts'

const L = 6
/** The first preset's model and batch: two-digit addition, 26 tokens. */
const shape = modelShape({
  ...CONFIG.model,
  hidden_size: 64,
  intermediate_size: 168,
  num_hidden_layers: L,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 16,
})
const [P, R] = [6, 4]
const phase: RlPhase = {
  ...RL,
  rollout: { ...RL.rollout, train_batch_size: 32, n: 8, max_response_length: R },
  actor: { ...RL.actor, ppo_mini_batch_size: 16 },
}
const { micro } = phaseRows(phase, P + R, shape)
const tensors = createActorTensors(new MemoryPlan(), paramLayout(shape), {
  prompt_length: P,
  response_length: R,
  batchRows: 256,
  microRows: micro,
  updates: 2,
  probeRows: 8,
  hasReference: false,
})

/** A dispatch's params when every row is full. */
function paramsOf({ kernel, params, patches }: Dispatch) {
  const full = { tokens: micro * (P + R), inv_temperature: 1 }
  const live = new Proxy(full, { get: (given, name: string) => given[name as 'tokens'] ?? 1 })
  const view = new DataView(params.slice().buffer)
  for (const { offset, dtype, value } of patches)
    setScalar(view, offset, dtype, value(live as LiveValues<string>))
  return readParams(kernel.params, view, 0)
}

/** Dispatches and operations of the update and of the scoring that comes before it. */
function costs(layer: number) {
  const commands = [
    ...collect<UpdateLive>('update', (r) => {
      recordPass(r, tensors, tensors.workspace, { layer })
      recordUpdate(r, tensors, tensors.workspace, { layer }, objectiveOf(phase))
    }),
    ...collect<ScoreLive>('score', (r) => recordPass(r, tensors, tensors.workspace, { layer })),
  ].filter((command) => command.kind === 'dispatch')
  const flops = commands.map((command) => costOf(command.kernel, paramsOf(command))?.flops ?? 0)
  return { dispatches: commands.length, flops: flops.reduce((a, b) => a + b, 0) }
}

test.for([1, 2, 3, 4, 5])('the policy of layer %i of 6 costs its share of the blocks', (layer) => {
  const [inner, whole] = [costs(layer), costs(L)]
  // The head and the embedding are not shared out: 0.3 % of the whole.
  expect(inner.flops / whole.flops).toBeGreaterThan(layer / L)
  expect(inner.flops / whole.flops).toBeLessThan(layer / L + 0.005)
  // Nor are loading rows, the loss and the search for numbers that are not finite: some ten calls
  // of two hundred.
  expect(inner.dispatches / whole.dispatches).toBeLessThan(layer / L + 0.045)
})
