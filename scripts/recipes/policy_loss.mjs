// Follows the recipe "Add a policy loss": one file, and one line in POLICY_LOSSES.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const NAME = 'topr'
const FIELD = 'actor.policy_loss.topr_max_ratio'
const R = 6
/** A response with ratios on both sides of the limit, advantages of both signs, and a token that
 * does not count. */
const response = {
  old_log_probs: [-1, -2, -0.5, -1.5, -1, -3],
  log_probs: [-0.4, -2.5, -0.9, -0.6, -1.1, -1],
  advantages: [1, -1, 0.5, -2, -0.7, 1],
  response_mask: [1, 1, 1, 1, 1, 0],
}

export const policyLoss = {
  name: 'a policy loss',
  file: 'src/rl/losses/topr.ts',
  text: readFileSync(new URL('topr.ts', import.meta.url), 'utf8'),
  list: 'src/rl/losses/losses.ts',
  import: "import { topr } from './topr.ts'",
  after: 'gspo,',
  line: '  topr,',
  checks: {
    'an experiment may choose it, and the form shows its label and its number': settings,
    'a job with it is refused, and one without it says nothing of its number': job,
    'its gradient is the finite difference of its loss': gradient,
    'its kernel declares one interface': kernel,
    'the token table shows its clip and its formula': tokens,
  },
}

async function settings(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const parsed = (actor) => parseExperiment({ actor })
  const fields = (loss_mode) => {
    const { ok, experiment } = parsed({ loss_mode })
    expect(ok).toBe(true)
    return new Map(experimentFields(experiment).map((field) => [field.path, field]))
  }
  const form = fields(NAME)
  expect(form.get('actor.loss_mode')).toMatchObject({ value: NAME })
  expect(form.get('actor.loss_mode').options).toContainEqual({
    value: NAME,
    label: 'TOPR (tapered)',
  })
  expect(form.get(FIELD)).toMatchObject({
    label: 'Largest ratio',
    value: 1,
    default: 1,
    min: 0.01,
    max: 10,
    live: true,
    hasEffect: true,
  })
  expect(fields('vanilla').get(FIELD).hasEffect).toBe(false)
  // Numbers of other losses have none.
  for (const other of ['actor.clip_ratio_low', 'actor.tau_pos', 'actor.policy_loss.ppo_kl_coef'])
    expect(form.get(other).hasEffect, other).toBe(false)
  expect(parsed({ loss_mode: NAME, policy_loss: { topr_max_ratio: 20 } }).issues).toHaveLength(1)
}

async function job(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { checkJob } = await load('jobs/job_files.ts')
  const { experimentSource } = await load('jobs/model_folders.ts')
  const source = (actor) => ({
    ...experimentSource(parseExperiment({ actor }).experiment),
    understory: '0.0.0',
  })
  const verl = { target: 'verl', verl: '0.9' }
  expect(() => checkJob(source({ loss_mode: NAME }), verl)).toThrow(/loss_mode/)
  const { lost } = checkJob(source({ policy_loss: { topr_max_ratio: 3 } }), verl)
  expect(lost.map(({ path }) => path)).not.toContain(FIELD)
}

async function gradient(load) {
  const { policyLossRef } = await load('rl/losses/policy_loss.ref.ts')
  const { numericGradient } = await load('kernels/numericGradient.ref.ts')
  const { expectClose } = await load('kernels/testing.ts')
  for (const topr_max_ratio of [0.5, 1, 2]) {
    const config = { loss_agg_mode: 'token-mean', policy_loss: { topr_max_ratio } }
    const loss = (log_probs) =>
      policyLossRef(NAME, config, { ...response, log_probs, response_length: R })
    const log_probs = Float64Array.from(response.log_probs)
    const { d_log_probs, metrics } = loss(log_probs)
    const slopes = numericGradient((x) => loss(x).loss, log_probs)
    expectClose(d_log_probs, slopes, { atol: 1e-9, rtol: 1e-8 })
    expect(Object.keys(metrics)).toEqual(['actor/ppo_kl', 'actor/pg_clipfrac'])
  }
}

async function kernel(load) {
  const { LOSS_KERNELS } = await load('rl/learners/loss_kernels.ts')
  const { expectOneInterface, expectOneWorkgroup } = await load('kernels/wgsl/testing.ts')
  const { loss, choice } = LOSS_KERNELS[NAME]
  expect(Object.keys(loss.params)).toContain('topr_max_ratio')
  expect(choice).toBeUndefined()
  expectOneInterface(loss)
  expectOneWorkgroup(loss)
}

async function tokens(load) {
  const { tokenTable } = await load('rl/look/token_table.ts')
  const { tokenFormulas } = await load('document/formulas/formulas.ts')
  const { evaluated } = await load('cli/calculator/testing.ts')
  const { RL } = await load('rl/testing.ts')
  const phase = {
    ...RL,
    actor: { ...RL.actor, loss_mode: NAME, policy_loss: { topr_max_ratio: 1.5 } },
  }
  const table = tokenTable(traced(phase))
  const [sample] = table.samples
  // Only the bad token whose ratio is above 1.5; a token that does not count has no verdict.
  expect(sample.columns.clipped).toEqual([0, 0, 0, 1, 0, Number.NaN])
  const results = []
  for (let t = 0; t < R; t++) {
    const loss = tokenFormulas({ table, sample, t }).find(({ part }) => part === 'loss')
    if (response.response_mask[t] === 0) {
      expect(loss).toBeUndefined()
      continue
    }
    expect(loss.name).toBe('policy loss: TOPR (tapered)')
    for (const { numbers, value } of loss.lines) expect(evaluated(numbers)).toBeCloseTo(value, 3)
    const { symbols, symbol } = loss.lines.at(-1)
    expect(symbol).toBe('L')
    results.push(symbols)
  }
  expect(results[0]).toBe('−A · log π')
  expect(results[1]).toBe('−A · r')
  expect(results[3]).toBe('−A · r_max · (1 + log π − log π_old − log r_max)')
}

/** A step of that one response. */
function traced(phase) {
  const arrays = Object.fromEntries(
    Object.entries(response).map(([name, values]) => [name, Float32Array.from(values)]),
  )
  const { response_mask, advantages, ...read } = arrays
  const batch = {
    rows: 1,
    prompt_length: 1,
    response_length: R,
    response_mask,
    response_ids: new Uint32Array(R),
    response_lengths: Uint32Array.of(R),
    is_ended: [true],
  }
  const token_level_rewards = new Float64Array(R)
  return {
    phase,
    drawn: {
      columns: new Map(),
      problems: [],
      batch,
      texts: ['aaaaaa'],
      scores: [1],
      index: [0],
      order: [0],
      samples: [{ prompt: '', ground_truth: '', demonstration: '' }],
      token_level_scores: token_level_rewards,
    },
    experience: { advantages, returns: advantages, token_level_rewards, metrics: {} },
    trained: batch,
    rows: { batch: 1, mini: 1, micro: 1 },
    updates: 1,
    read: { ...read, entropy: new Float32Array(R), log_probs_after: read.log_probs },
    tokens: ['a'],
  }
}
