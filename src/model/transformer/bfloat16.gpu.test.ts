// A model whose frozen matrices lie in bfloat16 computes the bits of one that has the decoded
// weights in f32: forward, head, entropy, backward and rollout, in one buffer and in several.
import { describe, expect, test } from 'vitest'
import { decodeBfloat16, encodeBfloat16 } from '../../kernels/device/bfloat16.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import { type ModelConfig, modelShape } from '../layout/config.ts'
import { paramLayout } from '../layout/params.ts'
import { createParamBuffers } from '../params/param_buffers.ts'
import { readParams } from '../params/param_copies.ts'
import { paramGradients, type Trains } from '../params/param_tensors.ts'
import { Rollout } from '../rollout/rollout.ts'
import { createRolloutTensors } from '../rollout/rollout_tensors.ts'
import { CONFIGS, testBatch, testWeights } from '../testing.ts'
import { backward } from './backward.ts'
import { createModel, type Model, uploadModel } from './model.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

const [P, R] = [4, 3]
const LENGTHS = [
  { prompt: 3, response: 3 },
  { prompt: 4, response: 1 },
  { prompt: 1, response: 2 },
]

/** A vocabulary that both heads read in tiles: a small one in f32 has kernels of its own
 * (kernels/vocab_head). */
const MODELS = CONFIGS.map((config) => ({ ...config, vocab_size: 300 }))

/** Numbers that a bfloat16 holds exactly. */
const bfloats = (values: Float32Array) => decodeBfloat16(encodeBfloat16(values))

function modelOf(gpu: Gpu, config: ModelConfig, trains: Trains, dtype: 'float32' | 'bfloat16') {
  const layout = paramLayout(modelShape({ ...config, dtype }))
  const model = createModel(gpu, layout, trains)
  uploadModel(gpu, model, bfloats(testWeights(config, 3).flat))
  return { layout, model }
}

/** What a pass leaves of the policy, and the gradients of what is trained. */
async function pass(gpu: Gpu, config: ModelConfig, trains: Trains, dtype: 'float32' | 'bfloat16') {
  const { layout, model } = modelOf(gpu, config, trains, dtype)
  const { shape } = layout
  const rows = LENGTHS.length
  const buffers = createParamBuffers(gpu, layout, 'gradients', 'gradients', (segment) =>
    trains !== 'none' && (trains === 'all' || trains[segment]) ? 'f32' : undefined,
  )
  const ws = createWorkspace(gpu, shape, {
    rows,
    width: P + R,
    response_length: R,
    trains: true,
    headSplits: headSplits(rows * R, shape),
  })
  const batch = testBatch(LENGTHS, { P, R, vocab_size: shape.vocab_size, seed: 7 })
  uploadRows(gpu, ws, batch)
  gpu.write(
    ws.response.d_log_probs,
    randomValues(rows * R, 3).map((x, i) => x * batch.response_mask[i]),
  )
  const L = shape.num_hidden_layers
  const program = await gpu.record('pass', [], (r) => {
    forward(r, model, ws)
    readPolicy(r, model, ws, { layer: L, inv_temperature: 1 })
    backward(r, model, paramGradients(gpu, layout, buffers), ws, { layer: L, inv_temperature: 1 })
  })
  gpu.replay(program)
  const policy = await gpu.read(ws.response.log_probs, ws.response.entropy, ws.hidden[L])
  return [...policy, ...(await readParams(gpu, buffers))]
}

async function responses(gpu: Gpu, model: Model) {
  const size = { rows: 4, n: 2, prompt_length: P, response_length: R }
  const tensors = createRolloutTensors(gpu, model.shape, size)
  const special = { eos_token_ids: [1], pad_token_id: 0 }
  const rollout = await Rollout.create(gpu, model, size, tensors, { special })
  const prompts = testBatch(
    [
      { prompt: 2, response: 0 },
      { prompt: 4, response: 0 },
    ],
    { P, R: 0, vocab_size: model.shape.vocab_size, seed: 5 },
  )
  const drawn = { seed: 3, stream: 0, step: 0, row_offset: 0 }
  await rollout.generate(prompts, { temperature: 1, top_k: null, top_p: 1, ...drawn })
  return gpu.read(tensors.response_ids, tensors.log_probs, tensors.entropy)
}

describe.each([
  ['one buffer', undefined],
  ['several', 2048],
])('in %s', (_, segmentBytes) => {
  test.each(MODELS.map((config) => [config.model_type, config] as const))(
    '%s: the middle block trains in a frozen model',
    async (_, config) => {
      const gpu = await Gpu.open(segmentBytes ? { segmentBytes } : {})
      const { segment_ends, first_block } = paramLayout(modelShape(config))
      const trains = segment_ends.map((_, segment) => segment === first_block + 1)
      const [exact, packed] = [
        await pass(gpu, config, trains, 'float32'),
        await pass(gpu, config, trains, 'bfloat16'),
      ]
      expect(packed).toEqual(exact)
      expect(exact[3].some((g) => g !== 0)).toBe(true)
    },
  )

  test('a rollout', async () => {
    const gpu = await Gpu.open(segmentBytes ? { segmentBytes } : {})
    for (const config of [MODELS[0], MODELS[3]]) {
      const [exact, packed] = [
        await responses(gpu, modelOf(gpu, config, 'none', 'float32').model),
        await responses(gpu, modelOf(gpu, config, 'none', 'bfloat16').model),
      ]
      expect(packed).toEqual(exact)
    }
  })
})
