// Model.matmul reaches the products outside a training pass: recorded without a device, and told by
// the kernels' names.
import { expect, test } from 'vitest'
import { collect, type Recorder } from '../../kernels/device/base/program.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { QUANTITY_NAMES } from '../internals/internal_quantities.ts'
import { recordInternals } from '../internals/internals.ts'
import { createInternals } from '../internals/internals_tensors.ts'
import type { LoraConfig } from '../layout/config.ts'
import type { RolloutLive } from '../rollout/rollout_inputs.ts'
import { recordPrefill, recordTokens } from '../rollout/rollout_record.ts'
import { createRolloutTensors } from '../rollout/rollout_tensors.ts'
import { TINY, testWeights } from '../testing.ts'
import type { Model } from './model.ts'
import { createModel } from './model.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

const L = TINY.num_hidden_layers
const { layout } = testWeights(TINY, 1)
const { shape } = layout
const plan = new MemoryPlan()
const model = createModel(plan, layout, 'all', { matmul: { '*': 'vector_4x4' } })

/** How often each product kernel was recorded, of those whose names begin so. */
function products<N extends string>(build: (recorder: Recorder<N>) => void, prefix = 'matmul') {
  const counts: Record<string, number> = {}
  for (const command of collect('test', build)) {
    if (command.kind !== 'dispatch' || !command.kernel.name.startsWith(prefix)) continue
    counts[command.kernel.name] = (counts[command.kernel.name] ?? 0) + 1
  }
  return counts
}

/** A rollout of two tokens. */
function recordRollout(of: Model, recorder: Recorder<RolloutLive>) {
  const { shape } = of
  const size = { rows: 4, n: 2, prompt_length: 3, response_length: 2 }
  const tensors = createRolloutTensors(plan, shape, size)
  const special = { eos_token_ids: [1], pad_token_id: 0 }
  const cache = { ...size, response_columns: 1 }
  const recording = { gpu: plan, recorder, model: of, cache, tensors, special, R: 2 }
  recordPrefill(recording)
  recordTokens(recording, 0, 2)
}

test('a rollout takes the choice for its prompts and for the first token of a response', () => {
  const counts = products<RolloutLive>((recorder) => recordRollout(model, recorder))
  // qkv of every block, and the head; gate_up; o and down.
  expect(counts).toEqual({
    matmul_nt_vector_4x4: L + 1,
    matmul_nt_swiglu_vector_4x4: L,
    matmul_nt_add_vector_4x4: 2 * L,
  })
})

test('later tokens take it where it names kernels that sum by subgroups', () => {
  const decoded = (of: Model) =>
    products<RolloutLive>((recorder) => recordRollout(of, recorder), 'decode_linear')
  // qkv, o and down of every block, and the head; of a narrow model by default.
  expect(decoded(model)).toEqual({ decode_linear_vector_4x4: 3 * L + 1 })
  const bySubgroups = { ...model, matmul: { '*': 'subgroups_8x16' } }
  expect(decoded(bySubgroups)).toEqual({ decode_linear_subgroups_8x16: 3 * L + 1 })
})

const LORA: LoraConfig = {
  r: 4,
  lora_alpha: 8,
  use_rslora: false,
  target_modules: 'all-linear',
  layers_to_transform: null,
}

test('in matrix units a frozen base is rounded to halves, in every pass and token, and what learns beside it is not', () => {
  const adapted = testWeights({ ...TINY, lora: LORA }, 1).layout
  const of = createModel(plan, adapted, 'all', { matmul: { '*': 'matrices_f16' } })
  const decoded = products<RolloutLive>((recorder) => recordRollout(of, recorder), 'decode_linear')
  // The base's four products of every block, and the head; the adapter's four of its factors A.
  expect(decoded).toEqual({
    decode_linear_matrices_f16: 4 * L + 1,
    decode_linear_vector_4x4: 4 * L,
  })
  const size = { rows: 2, width: 5, response_length: 2, trains: false }
  const ws = createWorkspace(plan, adapted.shape, size)
  const passed = products<never>((recorder) => forward(recorder, of, ws))
  expect(passed).toEqual({
    matmul_nt_matrices_f16: 2 * L,
    matmul_nt_add_matrices_f16: 2 * L,
    matmul_nt_vector_4x4: 4 * L,
  })
})

test('the internals take it for the pass and for every state that they read', () => {
  const size = { rows: 2, width: 5, response_length: 2, trains: false }
  const ws = createWorkspace(plan, shape, size)
  const t = createInternals(plan, shape, ws, { quantities: QUANTITY_NAMES, positions: 'all' })
  const counts = products<never>((recorder) => recordInternals(recorder, model, t))
  // Besides the pass: each block's two writes, the logits of each state and of the last one normed.
  expect(counts).toEqual({
    matmul_nt_vector_4x4: L + 2 * L + (L + 1) + 1,
    matmul_nt_swiglu_vector_4x4: L,
    matmul_nt_add_vector_4x4: 2 * L,
  })
})
