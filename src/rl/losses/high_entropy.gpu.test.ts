import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { high_entropy } from '../../kernels/policy_loss/high_entropy.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { isHighEntropy } from './trl_masks.ref.ts'

const gpu = await Gpu.open()

/** One token; fewer than lanes; more than lanes, with many ties. */
test.for([1, 5, 200, 1031])(
  'high_entropy keeps what torch’s quantile keeps of %i tokens',
  async (tokens) => {
    // Rounded, so that some are equal; a sure token may have an entropy just below 0.
    const entropy = randomValues(tokens, tokens).map(
      (x) => Math.round(20 * Math.abs(x)) / 10 - 1e-7,
    )
    const mask = Float32Array.from({ length: tokens }, (_, i) =>
      Number(tokens === 1 || i % 5 !== 3),
    )
    const weights = mask.map((m, i) => m / (i + 1))
    const upload = (name: string, data: Float32Array) => gpu.tensor(name, 'f32', [tokens], { data })
    for (const quantile of [0, 0.3, 0.5, 0.8, 0.99]) {
      const tensors = {
        entropy: upload(
          'entropy',
          entropy.map((x, i) => (mask[i] === 0 ? Number.NaN : x)),
        ),
        token_weights: upload('token_weights', mask),
        loss_weights: upload('loss_weights', weights),
        pg_weights: upload(
          'pg_weights',
          mask.map((m) => 2 * m),
        ),
        entropy_weights: upload('entropy_weights', new Float32Array(tokens).fill(9)),
      }
      await gpu.run(high_entropy, { tokens, quantile }, tensors)
      const [pgWeights, entropyWeights] = await gpu.read(
        tensors.pg_weights,
        tensors.entropy_weights,
      )
      const kept =
        quantile === 0
          ? Array.from(mask, (m) => m !== 0)
          : isHighEntropy({ top_entropy_quantile: 1 - quantile }, { entropies: entropy, mask })
      const counted = mask.reduce((sum, m) => sum + m, 0)
      const share = counted / kept.filter(Boolean).length
      expect(Array.from(pgWeights)).toEqual(kept.map((isKept) => (isKept ? 2 : 0)))
      expectClose(
        entropyWeights as Float32Array,
        kept.map((isKept, i) => (isKept ? weights[i] * share : 0)),
        { atol: 0, rtol: 1e-6 },
      )
    }
  },
)

test('high_entropy keeps nothing of a micro-batch without a token', async () => {
  const upload = (name: string, value: number) =>
    gpu.tensor(name, 'f32', [4], { data: new Float32Array(4).fill(value) })
  const tensors = {
    entropy: upload('entropy', Number.NaN),
    token_weights: upload('token_weights', 0),
    loss_weights: upload('loss_weights', 0),
    pg_weights: upload('pg_weights', 0),
    entropy_weights: upload('entropy_weights', 9),
  }
  await gpu.run(high_entropy, { tokens: 4, quantile: 0.5 }, tensors)
  const [pgWeights, entropyWeights] = await gpu.read(tensors.pg_weights, tensors.entropy_weights)
  expect([...pgWeights, ...entropyWeights]).toEqual(new Array(8).fill(0))
})
