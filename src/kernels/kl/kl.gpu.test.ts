import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { klLossRef } from './kl.ref.ts'
import { kl_loss } from './kl.ts'
import { KL_PENALTIES, type KlPenalty, klKind } from './kl_penalty.ts'

const gpu = await Gpu.open()

/** Log ratios up to ±4 (k3 is held beyond 2.6), some tiny, some 0; every seventh token is
 * masked. */
function batchOf(tokens: number, seed: number) {
  const ref_log_prob = randomValues(tokens, seed).map((x) => x - 4)
  const difference = randomValues(tokens, seed + 1).map((x, i) => [4 * x, x / 100, 0.6 * x][i % 3])
  return {
    log_probs: ref_log_prob.map((x, i) => (i % 11 === 5 ? x : x + difference[i])),
    ref_log_prob,
    loss_weights: Float32Array.from({ length: tokens }, (_, i) => (i % 7 === 3 ? 0 : 1 / tokens)),
  }
}

async function run(
  config: { kl_loss_type: KlPenalty; kl_loss_coef: number },
  batch: ReturnType<typeof batchOf>,
) {
  const tokens = batch.log_probs.length
  const upload = (label: string, data: Float32Array) =>
    gpu.tensor(label, 'f32', [data.length], { data })
  const tensors = {
    log_probs: upload('log_probs', batch.log_probs),
    ref_log_prob: upload('ref_log_prob', batch.ref_log_prob),
    loss_weights: upload('loss_weights', batch.loss_weights),
    kld: upload('kld', new Float32Array(tokens).fill(9)),
    d_log_probs: upload('d_log_probs', new Float32Array(tokens).fill(0.25)),
    sums: upload('sums', Float32Array.of(1, 2, 3, 4, 5, 6)),
  }
  const { kl_loss_coef } = config
  await gpu.run(kl_loss, { tokens, kl_loss_coef, ...klKind(config.kl_loss_type) }, tensors)
  const [kld, d_log_probs, sums] = await gpu.read(tensors.kld, tensors.d_log_probs, tensors.sums)
  return { kld, d_log_probs, sums }
}

describe('kl_loss', () => {
  test.for(KL_PENALTIES.flatMap((kind) => [1, 257, 1000].map((tokens) => [kind, tokens] as const)))(
    '%s matches the reference at %i tokens and adds to what it should',
    async ([kl_loss_type, tokens]) => {
      const config = { kl_loss_type, kl_loss_coef: 0.5 * tokens }
      const batch = batchOf(tokens, tokens)
      const actual = await run(config, batch)
      const expected = klLossRef(config, batch)
      expectClose(actual.kld, expected.kld)
      expectClose(
        actual.d_log_probs,
        expected.d_log_probs.map((d) => 0.25 + d),
      )
      expectClose(actual.sums, [1, 2, 3, 4, 5, 6 + expected.loss])
    },
  )

  test('k3 of nearly equal policies keeps its digits', async () => {
    const log_probs = Float32Array.from([-6, -3, 3, 6], (x) => x * 2 ** -12)
    const batch = {
      log_probs,
      ref_log_prob: new Float32Array(4),
      loss_weights: log_probs.map(Math.abs),
    }
    const { kld } = await run({ kl_loss_type: 'k3', kl_loss_coef: 1 }, batch)
    // About 1e-6 and less: e^q - q - 1 in f32 would have no digit right. q²/2 (1 + q/3) is right to
    // 1e-7 of it.
    const exact = log_probs.map((d) => (d ** 2 / 2) * (1 - d / 3))
    expectClose(kld, exact, { atol: 0, rtol: 1e-6 })
  })

  test('what masked tokens hold does not matter, NaN included', async () => {
    const config = { kl_loss_type: 'k3', kl_loss_coef: 0.1 } as const
    const batch = batchOf(30, 5)
    const clean = await run(config, batch)
    for (const values of [batch.log_probs, batch.ref_log_prob])
      batch.loss_weights.forEach((w, i) => {
        if (w === 0) values[i] = Number.NaN
      })
    expect(await run(config, batch)).toEqual(clean)
    expect(clean.kld[3]).toBe(0)
    expect(clean.d_log_probs[3]).toBe(0.25)
  })

  test('log ratios of hundreds stay finite', async () => {
    const log_probs = Float32Array.of(-300, -0.5, -300, -300)
    const ref_log_prob = Float32Array.of(-0.5, -300, -300, -299)
    const batch = { log_probs, ref_log_prob, loss_weights: new Float32Array(4).fill(1) }
    const { kld, d_log_probs } = await run({ kl_loss_type: 'k3', kl_loss_coef: 1 }, batch)
    expectClose(kld, [10, 10, 0, Math.E - 2])
    expectClose(d_log_probs, [0.25, 0.25, 0.25, 1.25 - Math.E])
  })
})
