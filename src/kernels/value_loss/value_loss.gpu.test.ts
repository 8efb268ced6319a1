import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { LOSS_AGG_MODES } from '../policy_loss/aggregations/aggregations.ts'
import { aggregationWeights } from '../policy_loss/loss_weights.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { valueLossRef } from './value_loss.ref.ts'
import { VALUE_LOSS_SUMS, value_loss } from './value_loss.ts'

const gpu = await Gpu.open()

/** One row per 7 columns; every seventh token and so the last of every row is masked. */
function batchOf(rows: number, seed: number) {
  const tokens = rows * 7
  return {
    vpreds: randomValues(tokens, seed),
    values: randomValues(tokens, seed + 1),
    returns: randomValues(tokens, seed + 2),
    response_mask: Float32Array.from({ length: tokens }, (_, i) => (i % 7 === 6 ? 0 : 1)),
    response_length: 7,
  }
}
type Config = Parameters<typeof valueLossRef>[0]

async function run(config: Config, batch: ReturnType<typeof batchOf>) {
  const upload = (label: string, data: ArrayLike<number>) =>
    gpu.tensor(label, 'f32', [data.length], { data: Float32Array.from(data) })
  const count = batch.response_mask.reduce((a, b) => a + b, 0)
  const lossWeights = aggregationWeights(batch.response_mask, batch.response_length, config)
  const tensors = {
    vpreds: upload('vpreds', batch.vpreds),
    values: upload('values', batch.values),
    returns: upload('returns', batch.returns),
    token_weights: upload(
      'token_weights',
      batch.response_mask.map((m) => m / count),
    ),
    loss_weights: upload('loss_weights', lossWeights),
    d_vpreds: upload(
      'd_vpreds',
      batch.vpreds.map(() => 9),
    ),
    sums: upload('sums', [1, 2, 3]),
  }
  const tokens = batch.vpreds.length
  await gpu.run(value_loss, { tokens, cliprange_value: config.cliprange_value }, tensors)
  const [d_vpreds, sums] = await gpu.read(tensors.d_vpreds, tensors.sums)
  return { d_vpreds, sums }
}

describe('value_loss', () => {
  test.for([1, 11, 37, 150].flatMap((rows) => LOSS_AGG_MODES.map((mode) => [rows, mode] as const)))(
    'matches the reference at %i rows with %s',
    async ([rows, loss_agg_mode]) => {
      const batch = batchOf(rows, rows)
      for (const cliprange_value of [0.3, 1e9]) {
        const config = { loss_agg_mode, cliprange_value }
        const { d_vpreds, metrics } = valueLossRef(config, batch)
        const actual = await run(config, batch)
        // A token's share of the mean is the scale of its gradient.
        expectClose(actual.d_vpreds, d_vpreds, { atol: 1e-6 / batch.vpreds.length })
        expectClose(
          actual.sums,
          VALUE_LOSS_SUMS.map((name, i) => metrics[name] + i + 1),
        )
      }
    },
  )

  test('what stands at masked tokens does not matter, NaN included', async () => {
    const config = { loss_agg_mode: 'token-mean', cliprange_value: 0.3 } as const
    const batch = batchOf(5, 3)
    const clean = await run(config, batch)
    for (const x of [batch.vpreds, batch.values, batch.returns])
      for (let i = 6; i < x.length; i += 7) x[i] = Number.NaN
    expect(await run(config, batch)).toEqual(clean)
    expect(clean.d_vpreds[6]).toBe(0)
  })

  test('equal errors on both sides of the target share the gradient', async () => {
    const batch = { ...batchOf(1, 1), response_mask: Float32Array.of(1, 0, 0, 0, 0, 0, 0) }
    batch.vpreds[0] = 2
    batch.values[0] = 0
    batch.returns[0] = 1.5
    const { d_vpreds, sums } = await run({ loss_agg_mode: 'token-mean', cliprange_value: 1 }, batch)
    expect([...d_vpreds]).toEqual([0.25, 0, 0, 0, 0, 0, 0])
    expect([...sums]).toEqual([1.125, 2, 5])
  })
})
