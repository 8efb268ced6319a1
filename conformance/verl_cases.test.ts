import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resultLine } from './base/report.ts'
import { resultsOf } from './results.ts'
import { findSources } from './sources.ts'

/** The lines of one case of verl 0.9, without a GPU. */
async function linesOf(file: string, found: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'understory-verl-'))
  try {
    const source = 'verl 1dda039b9c6311889a9c9a26040677e1254814f9'
    const cases = [{ name: 'case', inputs: {}, ...found }]
    writeFileSync(join(folder, `${file}.json`), JSON.stringify({ source, dtype: 'float64', cases }))
    const lines: string[] = []
    for await (const result of resultsOf(findSources(folder), { gpu: undefined }))
      lines.push(resultLine(result))
    return lines.join('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.for([
  { function: 'agg_loss', loss_agg_mode: 'seq-median', dp_size: 2 },
  { function: 'agg_loss', loss_agg_mode: 'seq-median' },
  { function: 'agg_loss', loss_agg_mode: 'seq-mean-token-mean', dp_size: 2 },
])('verl raises a ValueError for $loss_agg_mode on $dp_size ranks', async (config) => {
  const lines = await linesOf('errors', { config, expected: { raises: 'ValueError' } })
  expect(lines).toMatch(/^ok /)
})

test('ppo_clip in bypass mode reports the weights that it does not apply', async () => {
  // Ratios 4, 1 and 1/4; IcePop keeps those within 1/2 and 2.
  const four = Math.log(4)
  // verl's masked means have a small number below the line.
  const share = (count: number) => count / (3 + 1e-8)
  const lines = await linesOf('policy_loss_bypass_mode', {
    inputs: {
      rollout_log_prob: [[-2, -2, -2]],
      log_prob: [[four - 2, -2, -four - 2]],
      advantages: [[1, 1, 1]],
      response_mask: [[1, 1, 1]],
    },
    config: {
      loss_agg_mode: 'token-mean',
      clip_ratio: 0.2,
      rollout_correction: {
        loss_type: 'ppo_clip',
        rollout_is: 'token',
        rollout_is_threshold: '0.5_2.0',
      },
    },
    expected: {
      // The ratios, clipped at 1.2 alone.
      loss: -(1.2 + 1 + 0.25) / 3,
      grad_log_prob: [[0, -1 / 3, -0.25 / 3]],
      metrics: {
        'rollout_corr/rollout_is_oob_ratio': share(2),
        'rollout_corr/rollout_is_mean': share(1),
        'rollout_corr/rollout_is_ratio_fraction_high': share(1),
      },
    },
  })
  expect(lines).toMatch(/^ok /)
})
