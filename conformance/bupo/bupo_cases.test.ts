import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { Result } from '../base/report.ts'
import { resultsOf } from '../results.ts'
import { findSources } from '../sources.ts'
import { openBupoCase } from './bupo_trace.ts'
import { filledTrace, recorded, type TraceHead, writeTrace } from './testing.ts'

/** The first thing that the float64 replay finds wrong with a trace. */
async function problemOf(trace: object): Promise<Result | undefined> {
  const { folder, file } = writeTrace(trace)
  try {
    for await (const result of resultsOf(findSources(file), { gpu: undefined }))
      if (result.status !== 'ok') return result
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function opened(head: TraceHead, logged: object = {}) {
  const trace = recorded(head)
  for (const step of trace.steps) step.logged = logged
  const { file } = writeTrace(trace)
  try {
    return await openBupoCase(file)
  } finally {
    rmSync(dirname(file), { recursive: true })
  }
}

const SETTINGS = {
  use_kl_loss: true,
  kl_loss_coef: 0.05,
  kl_loss_type: 'low_var_kl',
  loss_agg_mode: 'seq-mean-token-mean',
  entropy_coeff: 0.02,
}
const ARGUMENTS = Object.entries(SETTINGS).map(
  ([name, value]) => `actor_rollout_ref.actor.${name}=${value === true ? 'True' : value}`,
)

test.for<[string, TraceHead, object]>([
  ['names of its own', SETTINGS, {}],
  ['a record', { config: { actor_rollout_ref: { actor: SETTINGS } } }, {}],
  ['a list of arguments', { overrides: ARGUMENTS }, {}],
  ['a line of arguments', { command: `run_bupo.sh ${ARGUMENTS.join(' ')}` }, {}],
  [
    'its note, and what it logged',
    { note: 'a KL loss 0.05 (low_var_kl), seq-mean-token-mean, an entropy bonus of 0.02' },
    { 'actor/kl_coef': 0.05, 'actor/kl_loss': 0 },
  ],
])('a trace says its settings by %s', async ([, head, logged]) => {
  const { steps } = await opened(head, logged)
  expect(steps[0].phase.actor).toMatchObject({ ...SETTINGS, entropy_of: 'final' })
})

test('settings that a trace does not name are those of its job, else the fork’s defaults', async () => {
  const [{ phase }] = (await opened({})).steps
  expect(phase.actor).toMatchObject({
    clip_ratio_c: 10,
    grad_clip: 1,
    use_kl_loss: false,
    kl_loss_type: 'low_var_kl',
    optim: { betas: [0.9, 0.95], weight_decay: 0.1 },
  })
})

test('FSDP 1 decays the final norm on several ranks, and loses the last layer on one', async () => {
  const two = await opened({ strategy: 'fsdp', ranks: 2 })
  expect(two.steps.map(({ phase }) => phase.decay_final_norm)).toEqual([true, false])
  expect(two.steps[0].phase.actor.ppo_micro_batch_size_per_gpu).toBe(4)
  const one = await opened({ strategy: 'fsdp' })
  expect(one.steps.map(({ phase }) => phase.freeze?.layers)).toEqual([undefined, [3]])
  const plain = await opened({ strategy: 'fsdp2' })
  expect(plain.steps.map(({ phase }) => [phase.decay_final_norm, phase.freeze])).toEqual([
    [false, undefined],
    [false, undefined],
  ])
})

test.for<[TraceHead, RegExp]>([
  [{ tis_imp_ratio_cap: 2 }, /actor.tis_imp_ratio_cap: expected -1, which is off, got 2/],
  [
    { overrides: ['algorithm.use_kl_in_reward=True'] },
    /algorithm.use_kl_in_reward: expected false/,
  ],
  [{ overrides: ['actor_rollout_ref.actor.use_dynamic_bsz=True'] }, /actor.use_dynamic_bsz/],
  [{ overrides: ['actor_rollout_ref.model.lora_rank=8'] }, /model.lora_rank: expected 0/],
  [{ config: { actor_rollout_ref: { actor: { sparsity: 3 } } } }, /actor.sparsity: no setting of/],
  [{ length_penalty_coef: 0.1 }, /length_penalty_coef: no setting of/],
  [{ loss_mode: 'clip_cov' }, /loss_mode: expected one of vanilla, .*, got clip_cov/],
  [{ loss_agg_mode: 'token-sum' }, /loss_agg_mode: expected one of .*, got token-sum/],
  [{ kl_loss_type: 'full' }, /kl_loss_type: expected one of .*, got full/],
  [{ adv_estimator: 'gae' }, /adv_estimator: expected one of grpo, got gae/],
  [{ ppo_micro_batch_size_per_gpu: 5 }, /ppo_micro_batch_size_per_gpu: expected a divisor of 8/],
  [{ ranks: 3 }, /ranks: expected a divisor of 8/],
  [{ override_config: { internal_layer: 2 } }, /internal_layer: expected one value everywhere/],
])('%j is refused by name', async ([head, reason]) => {
  await expect(opened(head)).rejects.toThrow(reason)
})

test('advantages are those of as many responses to a prompt as the batch shows', async () => {
  const trace = recorded({})
  // The job says 4; here 8 share a prompt, and one of them is right.
  for (const step of trace.steps) {
    const ids = step.input_ids as number[][]
    step.input_ids = ids.map((row, b) => [...ids[b - (b % 8)].slice(0, 4), ...row.slice(4)])
    step.token_level_scores = ids.map((_, b) => [0, 0, 0, b % 8 === 0 ? 1 : 0])
    const mask = step.response_mask as number[][]
    // The mean is 1/8, the spread √(1/8).
    const of = (b: number) => ((b % 8 === 0 ? 1 : 0) - 1 / 8) / (Math.sqrt(1 / 8) + 1e-6)
    step.advantages = mask.map((row, b) => row.map((m) => m * of(b)))
  }
  const { folder, file } = writeTrace(trace)
  const found: Result[] = []
  for await (const result of resultsOf(findSources(file), { gpu: undefined })) {
    if (result.case.endsWith('/advantages')) found.push(result)
    if (found.length === 2) break
  }
  rmSync(folder, { recursive: true })
  expect(found.map(({ status }) => status)).toEqual(['ok', 'ok'])
})

test('a trace that contradicts its metrics is refused', async () => {
  const logged = { 'actor/kl_coef': 0.05 }
  await expect(opened({ use_kl_loss: false }, logged)).rejects.toThrow(
    /actor.use_kl_loss: the trace says false, and its metrics are those of true/,
  )
})

test('every setting is at work: numbers of one trace are not those of another', async () => {
  const trace = await filledTrace({ ...SETTINGS, ppo_micro_batch_size_per_gpu: 4 })
  expect(await problemOf(trace)).toBeUndefined()
  for (const changed of [
    { kl_loss_coef: 0.001 },
    { kl_loss_type: 'abs' },
    { loss_agg_mode: 'token-mean' },
    { entropy_coeff: 0 },
    { ppo_micro_batch_size_per_gpu: 8 },
    { clip_ratio_low: 0.001, clip_ratio_high: 0.001 },
    { grad_clip: 0.1 },
    { overrides: ['actor_rollout_ref.actor.optim.betas=[0.5,0.5]'] },
    { overrides: ['actor_rollout_ref.actor.optim.weight_decay=0.5'] },
    { strategy: 'fsdp' },
    { iterative_steps: 2 },
  ])
    expect(await problemOf({ ...trace, ...changed }), JSON.stringify(changed)).toBeDefined()
})
