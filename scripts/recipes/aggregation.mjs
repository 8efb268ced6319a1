// Follows the recipe "Add a loss aggregation": one file, and one line in the list of aggregations.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const NAME = 'seq-mean-token-root'

export const aggregation = {
  name: 'a loss aggregation',
  file: 'src/kernels/policy_loss/aggregations/seq_mean_token_root.ts',
  text: readFileSync(new URL('seq_mean_token_root.ts', import.meta.url), 'utf8'),
  list: 'src/kernels/policy_loss/aggregations/aggregations.ts',
  import: "import { seq_mean_token_root } from './seq_mean_token_root.ts'",
  after: '  seq_mean_token_sum_norm,',
  line: '  seq_mean_token_root,',
  checks: {
    'actor and critic may choose it, and the form shows its label': settings,
    'losses are averaged by it': average,
    'the kernel of the weights has a case for it': kernel,
  },
}

async function settings(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const parsed = parseExperiment({
    actor: { loss_agg_mode: NAME },
    critic: { loss_agg_mode: NAME },
  })
  expect(parsed.issues ?? []).toEqual([])
  const form = new Map(experimentFields(parsed.experiment).map((field) => [field.path, field]))
  for (const path of ['actor.loss_agg_mode', 'critic.loss_agg_mode'])
    expect(form.get(path).options.find(({ value }) => value === NAME).label).toMatch(/root/)
  expect(form.get('actor.loss_scale_factor').hasEffect).toBe(false)
}

async function average(load) {
  const { aggLossRef } = await load('kernels/policy_loss/loss_weights.ref.ts')
  // Responses of four tokens and of one.
  const mask = [1, 1, 1, 1, 1, 0, 0, 0]
  const { loss } = aggLossRef([1, 2, 3, 4, 5, 0, 0, 0], mask, 4, { loss_agg_mode: NAME })
  expect(loss).toBeCloseTo((10 / 2 + 5) / 2, 14)
}

async function kernel(load) {
  const { loss_weights } = await load('kernels/policy_loss/loss_weights.ts')
  const { LOSS_AGG_MODES } = await load('kernels/policy_loss/aggregations/aggregations.ts')
  const { expectOneInterface } = await load('kernels/wgsl/testing.ts')
  expectOneInterface(loss_weights)
  const [, body] = loss_weights.wgsl.split(`case ${LOSS_AGG_MODES.indexOf(NAME)}u: {`)
  expect(body).toMatch(/^\s*return params.scale \/ \(counts.sequences \* sqrt\(row_tokens\)\);/)
}
