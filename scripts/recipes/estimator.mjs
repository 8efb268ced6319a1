// Follows the recipe "Add an advantage estimator": one file, and one line in ESTIMATORS.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const NAME = 'batch_baseline'

export const estimator = {
  name: 'an advantage estimator',
  file: 'src/rl/estimators/batch_baseline.ts',
  text: readFileSync(new URL('batch_baseline.ts', import.meta.url), 'utf8'),
  list: 'src/rl/estimators/advantages.ts',
  import: "import { batch_baseline } from './batch_baseline.ts'",
  after: '\n  grpo_vectorized,',
  line: '  batch_baseline,',
  checks: {
    'an experiment may choose it, and the form shows its label': settings,
    'a step computes it, reads nothing back for it, and shows its formula': step,
  },
}

async function settings(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const parsed = parseExperiment({
    rollout: { n: 1 },
    phases: [{ kind: 'rl', adv_estimator: NAME }],
  })
  expect(parsed.issues ?? []).toEqual([])
  const form = new Map(experimentFields(parsed.experiment).map((field) => [field.path, field]))
  expect(form.get('phases.0.adv_estimator').options).toContainEqual({
    value: NAME,
    label: 'REINFORCE with a batch baseline',
  })
  for (const path of ['gamma', 'lam', 'norm_adv_by_std_in_grpo'])
    expect(form.get(`algorithm.${path}`).hasEffect, path).toBe(false)
  expect(form.get('critic.optim.lr').hasEffect).toBe(false)
}

async function step(load) {
  const { driverColumns, makeExperience } = await load('rl/experience/experience.ts')
  const { klController } = await load('rl/experience/kl.ts')
  const { tokenFormulas } = await load('document/formulas/formulas.ts')
  const { RL } = await load('rl/testing.ts')
  const phase = { ...RL, adv_estimator: NAME }
  expect(driverColumns(phase)).toEqual([])
  const batch = {
    response_length: 2,
    index: [0, 1, 2],
    response_mask: [1, 1, 1, 0, 1, 1],
    token_level_scores: [0, 1, 0.5, 0, 0, 0],
  }
  const { advantages } = makeExperience(phase, batch, klController(phase.algorithm.kl_ctrl))
  expect(Array.from(advantages)).toEqual([0.5, 0.5, 0, 0, -0.5, -0.5])
  const sample = {
    tokens: ['a', 'b'],
    columns: { advantages: [-0.5, -0.5], response_mask: [1, 1] },
    group: { rewards: [0], lengths: [2], place: 0 },
  }
  const table = { phase, loss_mode: 'vanilla', rows: 3, nonzero_rewards: 2 }
  const [part] = tokenFormulas({ table, sample, t: 1 })
  expect(part).toMatchObject({
    part: 'advantage',
    name: 'advantage: REINFORCE with a batch baseline',
  })
  expect(part.lines).toEqual([
    {
      result: 'advantage',
      symbol: 'A',
      value: -0.5,
      symbols: 's − mean s of the batch',
      numbers: '0 − 0.5',
    },
  ])
}
