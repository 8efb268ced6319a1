// Follows the recipe "Add a metric": one entry in src/rl/metrics. Golden numbers of verl, which has
// no such metric, still hold.
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

const NAME = 'critic/score/nonzero'

export const metric = {
  name: 'a metric',
  edits: [
    {
      file: 'src/rl/metrics/data_metrics.ts',
      after: "    ...range('critic/score', rowSums(token_level_scores)),",
      text: `    ...(written.length > 0 && {
      '${NAME}': fraction(rowSums(token_level_scores), (score) => score !== 0),
    }),`,
    },
  ],
  checks: {
    'a step reports it': reports,
    'conform holds the other metrics of the batch to verl’s': conform,
  },
}

async function reports(load) {
  const { computeDataMetrics } = await load('rl/metrics/data_metrics.ts')
  const tokens = [1, 0, 0, 0]
  const metrics = computeDataMetrics({
    prompt_length: 1,
    response_length: 2,
    attention_mask: [1, 1, 1, 1, 1, 1],
    token_level_scores: tokens,
    token_level_rewards: tokens,
    advantages: tokens,
    returns: tokens,
    response_mask: [1, 1, 1, 1],
  })
  expect(metrics[NAME]).toBe(0.5)
}

async function conform(load) {
  const { DRIVER_CASES } = await load('conformance/driver_cases.ts')
  const { resultsOf } = await load('conformance/results.ts')
  const { findSources } = await load('conformance/sources.ts')
  const golden = new URL('../../conformance/fixtures/verl/data_metrics.json', import.meta.url)
  const found = []
  const sources = findSources(fileURLToPath(golden))
  for await (const result of resultsOf(sources, { gpu: undefined }, { verl: DRIVER_CASES }))
    found.push(result)
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter(({ status }) => status !== 'ok')).toEqual([])
}
