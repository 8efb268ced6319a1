import { expect, test } from 'vitest'
import { Gpu } from '../kernels/gpu.ts'
import { expectClose } from '../kernels/testing.ts'
import { inverseFrequencies } from './config.ts'
import { paramTensors } from './params.ts'
import { createRolloutTensors, Rollout, type Sampling } from './rollout.ts'
import { CONFIGS, TINY, testBatch, testWeights } from './testing.ts'
import { forwardRef, logitsRef, policyRef } from './transformer.ref.ts'

const gpu = await Gpu.open()
const EOS = 1
const P = 4
const R = 5
const LENGTHS = [
  { prompt: 4, response: 0 },
  { prompt: 1, response: 0 },
  { prompt: 3, response: 0 },
]
const GREEDY: Sampling = {
  temperature: 0,
  top_k: -1,
  top_p: 1,
  seed: 1,
  stream: 0,
  step: 0,
  row_offset: 0,
}
const SAMPLED: Sampling = { ...GREEDY, temperature: 1.3 }

async function build(config = TINY, seed = 1, eos_token_ids: readonly number[] = [EOS]) {
  const { layout, flat, exact } = testWeights(config, seed)
  const weights = paramTensors(
    gpu,
    layout,
    gpu.tensor('weights', 'f32', [layout.size], { data: flat }),
  )
  const inv_freq = gpu.tensor('inv_freq', 'f32', [config.head_dim / 2], {
    data: Float32Array.from(inverseFrequencies(config)),
  })
  const size = { rows: LENGTHS.length, prompt_length: P, response_length: R }
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  const model = { shape: layout.shape, weights, inv_freq }
  const rollout = await Rollout.create(gpu, model, size, tensors, {
    eos_token_ids,
    pad_token_id: 0,
  })
  return { exact, rollout }
}

function prompts(side: 'left' | 'right') {
  const batch = testBatch(LENGTHS, { P, R: 0, vocab_size: TINY.vocab_size, seed: 11 }, 'left')
  if (side === 'left') return batch
  const input_ids = new Uint32Array(batch.input_ids.length)
  const attention_mask = new Uint32Array(batch.input_ids.length)
  LENGTHS.forEach(({ prompt }, b) => {
    input_ids.set(batch.input_ids.subarray((b + 1) * P - prompt, (b + 1) * P), b * P)
    attention_mask.fill(1, b * P, b * P + prompt)
  })
  return { ...batch, input_ids, attention_mask }
}

async function generate(rollout: Rollout, side: 'left' | 'right', sampling: Sampling) {
  rollout.generate(prompts(side), sampling)
  const { response_ids, log_probs, entropy, attention_mask } = rollout.tensors
  const [ids, log_p, h, mask] = await gpu.read(response_ids, log_probs, entropy, attention_mask)
  return { ids, log_p, h, mask }
}

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  'greedy decoding with the cache follows the float64 model without one: %s',
  async ([, config]) => {
    const { exact, rollout } = await build(config)
    const { ids } = await generate(rollout, 'left', GREEDY)
    const batch = prompts('left')
    LENGTHS.forEach(({ prompt }, b) => {
      const sequence = [...batch.input_ids.subarray((b + 1) * P - prompt, (b + 1) * P)]
      for (let t = 0; t < R; t++) {
        const width = sequence.length
        const cache = forwardRef(config, exact, {
          input_ids: sequence,
          attention_mask: new Array(width).fill(1),
          position_ids: sequence.map((_, i) => i),
          rows: 1,
          width,
        })
        const logits = logitsRef(config, exact, cache.normed).subarray(-config.vocab_size)
        const next = logits.indexOf(Math.max(...logits))
        expect(ids[b * R + t], `row ${b}, token ${t}`).toBe(next)
        if (next === EOS) break
        sequence.push(next)
      }
    })
  },
)

test('prompts padded on the right give the same responses as prompts padded on the left', async () => {
  const { rollout } = await build()
  const left = await generate(rollout, 'left', SAMPLED)
  const right = await generate(rollout, 'right', SAMPLED)
  expect(right.ids).toEqual(left.ids)
  expectClose(right.log_p, left.log_p, { atol: 1e-5, rtol: 1e-5 })
})

test('a row stops at its end token, and its log-probs and entropies are those of the whole-row forward', async () => {
  const { exact, rollout } = await build()
  let stopped = 0
  for (let step = 0; step < 12; step++) {
    const { ids, log_p, h, mask } = await generate(rollout, 'left', { ...SAMPLED, step })
    const batch = prompts('left')
    for (let b = 0; b < LENGTHS.length; b++) {
      const response = ids.subarray(b * R, (b + 1) * R)
      const end = response.indexOf(EOS)
      const length = end < 0 ? R : end + 1
      if (end >= 0 && end < R - 1) stopped++
      for (let t = length; t < R; t++)
        expect([response[t], log_p[b * R + t], h[b * R + t]]).toEqual([0, 0, 0])
      const row_mask = [...mask.subarray(b * (P + R) + P, (b + 1) * (P + R))]
      expect(row_mask).toEqual(row_mask.map((_, t) => (t < length ? 1 : 0)))
      const prompt = batch.input_ids.subarray((b + 1) * P - LENGTHS[b].prompt, (b + 1) * P)
      const sequence = [...prompt, ...response.subarray(0, length)]
      const cache = forwardRef(TINY, exact, {
        input_ids: sequence,
        attention_mask: sequence.map(() => 1),
        position_ids: sequence.map((_, i) => i),
        rows: 1,
        width: sequence.length,
      })
      const truth = policyRef(TINY, exact, cache, TINY.num_hidden_layers, {
        response_ids: response.subarray(0, length),
        response_mask: new Array(length).fill(1),
        first_column: prompt.length - 1,
        response_length: length,
        temperature: SAMPLED.temperature,
      })
      expectClose(log_p.subarray(b * R, b * R + length), truth.log_probs, {
        atol: 3e-5,
        rtol: 3e-5,
      })
      expectClose(h.subarray(b * R, b * R + length), truth.entropy, { atol: 3e-5, rtol: 3e-5 })
    }
  }
  expect(stopped, 'no row ended early, so stopping was not tested').toBeGreaterThan(3)
})

test('sampling depends on seed, stream, step and row alone', async () => {
  const { rollout } = await build()
  const ids = async (change: Partial<Sampling>) =>
    (await generate(rollout, 'left', { ...SAMPLED, temperature: 3, ...change })).ids
  const first = await ids({})
  expect(await ids({})).toEqual(first)
  for (const change of [{ seed: 2 }, { stream: 1 }, { step: 1 }, { row_offset: 3 }])
    expect(await ids(change), JSON.stringify(change)).not.toEqual(first)
})

test('a row ends at whichever end token comes first; with no end token it fills its columns', async () => {
  const eos_token_ids = [EOS, 7, 4]
  const [{ rollout }, { rollout: endless }] = [
    await build(TINY, 1, eos_token_ids),
    await build(TINY, 1, []),
  ]
  const enders = new Set<number>()
  for (let step = 0; step < 12; step++) {
    const { ids, mask } = await generate(rollout, 'left', { ...SAMPLED, step })
    const free = await generate(endless, 'left', { ...SAMPLED, step })
    for (let b = 0; b < LENGTHS.length; b++) {
      const whole = [...free.ids.subarray(b * R, (b + 1) * R)]
      expect([...free.mask.subarray(b * (P + R) + P, (b + 1) * (P + R))]).toEqual(
        whole.map(() => 1),
      )
      const end = whole.findIndex((id) => eos_token_ids.includes(id))
      const length = end < 0 ? R : end + 1
      if (end >= 0) enders.add(whole[end])
      // Tokens up to the end are those of the rollout that ignores it: a draw depends on its place alone.
      expect([...ids.subarray(b * R, (b + 1) * R)]).toEqual(
        whole.map((id, t) => (t < length ? id : 0)),
      )
      const columns = mask.subarray(b * (P + R) + P, (b + 1) * (P + R))
      expect([...columns]).toEqual(whole.map((_, t) => (t < length ? 1 : 0)))
    }
  }
  expect(enders, 'an end token was never drawn, so it was not tested').toEqual(
    new Set(eos_token_ids),
  )
})

test('too many end tokens are refused', async () => {
  const ids = Array.from({ length: 17 }, (_, i) => i)
  await expect(build(TINY, 1, ids)).rejects.toThrow('at most 16 end tokens, got 17')
})
