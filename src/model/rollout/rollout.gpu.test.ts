import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import type { Model } from '../transformer/model.ts'
import { logitsRef, policyRef } from '../transformer/policy.ref.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { Rollout } from './rollout.ts'
import type { RolloutSize, Sampling } from './rollout_inputs.ts'
import { createRolloutTensors } from './rollout_tensors.ts'

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
  top_k: null,
  top_p: 1,
  seed: 1,
  stream: 0,
  step: 0,
  row_offset: 0,
}
const SAMPLED: Sampling = { ...GREEDY, temperature: 1.3 }

const SIZE: RolloutSize = { rows: LENGTHS.length, prompt_length: P, response_length: R }

async function build(
  config = TINY,
  seed = 1,
  eos_token_ids: readonly number[] = [EOS],
  size = SIZE,
  pad_token_id = 0,
  kernels: Pick<Model, 'matmul' | 'fusion'> = {},
) {
  const { layout, flat, exact } = testWeights(config, seed)
  const model = testModel(gpu, layout, flat, kernels)
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  const rollout = await Rollout.create(gpu, model, size, tensors, {
    special: {
      eos_token_ids,
      pad_token_id,
    },
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
  await rollout.generate(prompts(side), sampling)
  return outputs(rollout)
}

async function outputs(rollout: Rollout) {
  const { response_ids, log_probs, entropy, attention_mask } = rollout.tensors
  const [ids, log_p, h, mask] = await gpu.read(response_ids, log_probs, entropy, attention_mask)
  return { ids, log_p, h, mask }
}

const ALL = { swiglu: true, biasGradient: true }
const NORMS_INSIDE = { fusion: { ...ALL, decodeNorms: true } }
const WHOLE_TOKENS = { fusion: { ...ALL, decodeToken: true } }

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  'greedy decoding with the cache follows the float64 model without one, with norms inside products too: %s',
  async ([, config]) => {
    const { exact, rollout } = await build(config)
    const { ids, log_p } = await generate(rollout, 'left', GREEDY)
    const { rollout: fused } = await build(config, 1, [EOS], SIZE, 0, NORMS_INSIDE)
    const inside = await generate(fused, 'left', GREEDY)
    expect(inside.ids).toEqual(ids)
    expectClose(inside.log_p, log_p, { atol: 1e-5, rtol: 1e-5 })
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

test.for(
  ['qwen3', 'qwen2', 'llama'].map((model_type) => ({ ...TINY, model_type, head_dim: 8 }) as const),
)('a token decoded in one dispatch follows the kernels one by one: $model_type', async (config) => {
  const model = { ...config, hidden_size: 16, num_attention_heads: 2, num_key_value_heads: 1 }
  const { rollout } = await build(model as typeof TINY)
  const { rollout: whole } = await build(model as typeof TINY, 1, [EOS], SIZE, 0, WHOLE_TOKENS)
  expect(whole.dispatches).toBeLessThan(rollout.dispatches)
  for (const sampling of [GREEDY, SAMPLED]) {
    const apart = await generate(rollout, 'left', sampling)
    const together = await generate(whole, 'left', sampling)
    expect(together.ids).toEqual(apart.ids)
    expectClose(together.log_p, apart.log_p, { atol: 1e-5, rtol: 1e-5 })
  }
})

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
      const rowMask = [...mask.subarray(b * (P + R) + P, (b + 1) * (P + R))]
      expect(rowMask).toEqual(rowMask.map((_, t) => (t < length ? 1 : 0)))
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
      // Tokens up to the end are those of the rollout that ignores it: a draw depends on its place
      // alone.
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

test('n responses to a prompt are those to n copies of it, bit for bit, from a smaller cache', async () => {
  for (const config of CONFIGS) {
    const [n, rows] = [2, 2 * LENGTHS.length]
    const { rollout } = await build(config, 1, [EOS], { ...SIZE, rows, n })
    const { rollout: copies } = await build(config, 1, [EOS], { ...SIZE, rows })
    const { input_ids, attention_mask } = prompts('left')
    const repeated = (x: Uint32Array) =>
      Uint32Array.from({ length: rows * P }, (_, i) => x[Math.floor(i / P / n) * P + (i % P)])
    const twice = { input_ids: repeated(input_ids), attention_mask: repeated(attention_mask) }
    await rollout.generate({ input_ids, attention_mask }, SAMPLED)
    await copies.generate(twice, SAMPLED)
    const drawn = await outputs(rollout)
    expect(drawn).toEqual(await outputs(copies))
    expect(drawn.ids.subarray(0, R)).not.toEqual(drawn.ids.subarray(R, 2 * R))
    const tokens = (of: Rollout) => of.tensors.caches[0].shape[0]
    expect(tokens(copies) - tokens(rollout)).toBe((rows - rows / n) * P)
  }
})

test('a row does not depend on the batch it sits in, bit for bit', async () => {
  const { rollout } = await build()
  const all = await generate(rollout, 'left', SAMPLED)
  const { rollout: alone } = await build(TINY, 1, [EOS], { ...SIZE, rows: 1 })
  const { input_ids, attention_mask } = prompts('left')
  for (let b = 0; b < LENGTHS.length; b++) {
    const part = (x: Uint32Array) => x.subarray(b * P, (b + 1) * P)
    const prompt = { input_ids: part(input_ids), attention_mask: part(attention_mask) }
    await alone.generate(prompt, { ...SAMPLED, row_offset: b })
    const { ids, log_p, h } = await outputs(alone)
    expect(ids).toEqual(all.ids.slice(b * R, (b + 1) * R))
    expect(log_p).toEqual(all.log_p.slice(b * R, (b + 1) * R))
    expect(h).toEqual(all.h.slice(b * R, (b + 1) * R))
  }
})

test('long responses: once all rows have ended nothing more is computed, and nothing changes', async () => {
  const [long, pad, ends] = [70, 9, [EOS, 3, 4, 5]]
  const size = { ...SIZE, response_length: long }
  const { rollout } = await build(TINY, 1, ends, size, pad)
  const { rollout: endless } = await build(TINY, 1, [], size, pad)
  const run = async (of: Rollout, step: number) => {
    const { dispatches } = gpu.counts
    const result = await generate(of, 'left', { ...SAMPLED, temperature: 3, step })
    return { ...result, dispatches: gpu.counts.dispatches - dispatches }
  }
  for (let step = 0; step < 3; step++) {
    const free = await run(endless, step)
    expect(free.dispatches).toBe(endless.dispatches)
    const ended = await run(rollout, step)
    expect(ended.dispatches).toBeLessThan(0.8 * rollout.dispatches)
    for (let b = 0; b < LENGTHS.length; b++) {
      const at = b * long
      const whole = [...free.ids.subarray(at, at + long)]
      const length = whole.findIndex((id) => ends.includes(id)) + 1
      expect(length).toBeGreaterThan(0)
      const until = <T>(x: ArrayLike<T>, after: T) =>
        Array.from({ length: long }, (_, t) => (t < length ? x[at + t] : after))
      expect([...ended.ids.subarray(at, at + long)]).toEqual(until(free.ids, pad))
      expect([...ended.log_p.subarray(at, at + long)]).toEqual(until(free.log_p, 0))
      expect([...ended.h.subarray(at, at + long)]).toEqual(until(free.h, 0))
      const columns = [...ended.mask.subarray(b * (P + long) + P, (b + 1) * (P + long))]
      expect(columns).toEqual(columns.map((_, t) => (t < length ? 1 : 0)))
    }
  }
})

test('rows that are no multiple of n and another number of prompts are refused', async () => {
  await expect(build(TINY, 1, [EOS], { ...SIZE, n: 2 })).rejects.toThrow(
    'expected n to divide the 3 rows, got 2',
  )
  const { rollout } = await build(TINY, 1, [EOS], { ...SIZE, rows: 6, n: 3 })
  await expect(rollout.generate(prompts('left'), SAMPLED)).rejects.toThrow(
    'expected 2 × 4 prompt ids, got 12',
  )
})

test.skipIf(!gpu.facts.has_subgroups)(
  'with products summed by subgroups the greedy tokens are the same',
  async () => {
    const [{ rollout }, { rollout: shared }] = [
      await build(TINY, 1, [EOS], SIZE, 0, { matmul: {} }),
      await build(TINY, 1, [EOS], SIZE, 0, { matmul: { '*': 'subgroups_8x16' } }),
    ]
    const expected = await generate(rollout, 'left', GREEDY)
    const actual = await generate(shared, 'left', GREEDY)
    expect(actual.ids).toEqual(expected.ids)
    expectClose(actual.h, expected.h, { atol: 1e-4, rtol: 1e-4 })
    expect(actual.h, 'the same kernels').not.toEqual(expected.h)
  },
)

test('too many end tokens are refused', async () => {
  const ids = Array.from({ length: 17 }, (_, i) => i)
  await expect(build(TINY, 1, ids)).rejects.toThrow('at most 16 end tokens, got 17')
})
