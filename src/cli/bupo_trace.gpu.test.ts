// Traces as BuPO's fork would record them with other settings than in the fixtures: float64 makes
// the numbers, kernels repeat them.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { resultLine } from '../../conformance/base/report.ts'
import { filledTrace, type TraceHead, writeTrace } from '../../conformance/bupo/testing.ts'
import { resultsOf } from '../../conformance/results.ts'
import { findSources } from '../../conformance/sources.ts'
import { Gpu } from '../kernels/device/gpu.ts'

const gpu = await Gpu.open()

/** AdamW's first steps have the size of the rate however small a gradient is, so a larger one would
 * enlarge rounding. */
const LR = 2e-4

const KL = { use_kl_loss: true, kl_loss_coef: 0.05, kl_loss_type: 'low_var_kl' }

const HEADS: readonly TraceHead[] = [
  { ...KL, entropy_coeff: 0.02, loss_agg_mode: 'seq-mean-token-mean' },
  {
    ...KL,
    kl_loss_type: 'mse',
    loss_agg_mode: 'seq-mean-token-sum',
    ppo_micro_batch_size_per_gpu: 4,
  },
  { strategy: 'fsdp', ranks: 2, entropy_coeff: 0.02, loss_agg_mode: 'seq-mean-token-sum-norm' },
]

test.for(process.env.LONG_TESTS ? HEADS : HEADS.slice(2))(
  'kernels repeat what float64 computes with %j',
  async (head) => {
    const { folder, file } = writeTrace(await filledTrace(head, LR))
    const wrong: string[] = []
    let count = 0
    try {
      for await (const result of resultsOf(findSources(file), { gpu })) {
        if ('on' in result && result.on === 'gpu') count++
        if (result.status !== 'ok') wrong.push(resultLine(result))
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(wrong).toEqual([])
    // Two steps, each with its log-probs and two updates.
    expect(count).toBe(6)
  },
)
