import { describe, expect, test } from 'vitest'

import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { policy_loss_vanilla_ref, sft_loss_ref } from './policy_loss.ref.ts'
import { POLICY_LOSS_SUMS, policy_loss_vanilla, sft_loss } from './policy_loss.ts'

const gpu = await Gpu.open()

const k = {
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.28,
  clip_ratio_c: 3,
  entropy_coeff: 0.01,
}

function batchOf(tokens: number, seed: number) {
  const response_mask = Float32Array.from({ length: tokens }, (_, i) => (i % 7 === 3 ? 0 : 1))
  return {
    log_probs: randomValues(tokens, seed).map((x) => x - 2),
    old_log_probs: randomValues(tokens, seed + 1).map((x) => x - 2),
    advantages: randomValues(tokens, seed + 2),
    response_mask,
    entropy: randomValues(tokens, seed + 3).map((x) => x + 1),
    inv_token_count: 1 / response_mask.reduce((a, b) => a + b, 0),
  }
}

async function run(
  { inv_token_count, ...batch }: ReturnType<typeof batchOf>,
  start = new Float32Array(POLICY_LOSS_SUMS.length),
) {
  const tokens = batch.log_probs.length
  const upload = (label: string, data: Float32Array) =>
    gpu.tensor(label, 'f32', [data.length], { data })
  const tensors = {
    log_probs: upload('log_probs', batch.log_probs),
    old_log_probs: upload('old_log_probs', batch.old_log_probs),
    advantages: upload('advantages', batch.advantages),
    response_mask: upload('response_mask', batch.response_mask),
    entropy: upload('entropy', batch.entropy),
    d_log_probs: upload('d_log_probs', new Float32Array(tokens).fill(9)),
    d_entropy: upload('d_entropy', new Float32Array(tokens).fill(9)),
    sums: upload('sums', start),
  }
  await gpu.run(policy_loss_vanilla, { ...k, tokens, inv_token_count }, tensors)
  const [d_log_probs, d_entropy, sums] = await gpu.read(
    tensors.d_log_probs,
    tensors.d_entropy,
    tensors.sums,
  )
  return { d_log_probs, d_entropy, sums }
}

describe('policy_loss_vanilla', () => {
  test.for([1, 7, 256, 257, 1000])('matches the reference at %i tokens', async (tokens) => {
    const batch = batchOf(tokens, tokens)
    const expected = policy_loss_vanilla_ref({ ...k, ...batch }, batch)
    const actual = await run(batch)
    expectClose(actual.d_log_probs, expected.d_log_probs)
    expectClose(actual.d_entropy, expected.d_entropy)
    expectClose(actual.sums, expected.sums)
  })

  test('adds to its sums', async () => {
    const batch = batchOf(50, 4)
    const expected = policy_loss_vanilla_ref({ ...k, ...batch }, batch).sums
    const { sums } = await run(batch, Float32Array.of(1, 2, 3, 4, 5))
    expectClose(
      sums,
      expected.map((x, i) => x + i + 1),
    )
  })

  test('an unchanged policy has ratio exactly 1', async () => {
    const batch = batchOf(300, 8)
    batch.old_log_probs = batch.log_probs
    const actual = await run(batch)
    const inv = Math.fround(batch.inv_token_count)
    expect(actual.d_log_probs).toEqual(
      batch.advantages.map((a, i) => (batch.response_mask[i] ? Math.fround(-a) * inv : 0)),
    )
    expect(Array.from(actual.sums.subarray(1, 4), Math.abs)).toEqual([0, 0, 0])
  })

  test('advantages of 0 move nothing, and neither do clamped log ratios', async () => {
    const batch = batchOf(20, 9)
    batch.advantages.fill(0)
    expect((await run(batch)).d_log_probs).toEqual(new Float32Array(20))
    batch.advantages.fill(1)
    batch.log_probs.fill(-30)
    batch.old_log_probs.fill(-1)
    expect((await run(batch)).d_log_probs).toEqual(new Float32Array(20))
  })

  test('what stands at masked tokens does not matter, NaN included', async () => {
    const batch = batchOf(30, 10)
    const clean = await run(batch)
    for (const values of [batch.log_probs, batch.old_log_probs, batch.advantages, batch.entropy])
      batch.response_mask.forEach((m, i) => {
        if (m === 0) values[i] = Number.NaN
      })
    expect(await run(batch)).toEqual(clean)
  })
})

describe('sft_loss', () => {
  test.for([1, 255, 600])('matches the reference at %i tokens', async (tokens) => {
    const { log_probs, response_mask, inv_token_count } = batchOf(tokens, tokens)
    const tensors = {
      log_probs: gpu.tensor('log_probs', 'f32', [tokens], { data: log_probs }),
      response_mask: gpu.tensor('response_mask', 'f32', [tokens], { data: response_mask }),
      d_log_probs: gpu.tensor('d_log_probs', 'f32', [tokens]),
      d_entropy: gpu.tensor('d_entropy', 'f32', [tokens], {
        data: new Float32Array(tokens).fill(9),
      }),
      sums: gpu.tensor('sums', 'f32', [1], { data: Float32Array.of(10) }),
    }
    await gpu.run(sft_loss, { tokens, inv_token_count }, tensors)
    const [d_log_probs, d_entropy, sums] = await gpu.read(
      tensors.d_log_probs,
      tensors.d_entropy,
      tensors.sums,
    )
    const expected = sft_loss_ref(inv_token_count, log_probs, response_mask)
    expectClose(d_log_probs, expected.d_log_probs)
    expect(d_entropy).toEqual(new Float32Array(tokens))
    expectClose(sums, [10 + expected.loss])
  })
})
