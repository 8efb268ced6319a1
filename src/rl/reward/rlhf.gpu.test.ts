// The reward model in the real trainer: against float64, with a person's verdicts, and as the reward of reinforcement.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { adamw_step_ref } from '../../kernels/optimizer/optimizer.ref.ts'
import { bradleyTerryRef } from '../../kernels/preference_loss/preference_loss.ref.ts'
import { expectClose } from '../../kernels/testing.ts'
import { modelShape } from '../../model/params/config.ts'
import {
  chunkSegments,
  initialWeights,
  paramLayout,
  sharedRuns,
} from '../../model/params/params.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { valuesBackwardRef, valuesRef } from '../../model/transformer/value.ref.ts'
import type { Task } from '../../tasks/task.ts'
import { tokenizer } from '../../tasks/tokenizer.ts'
import type { Pairs, RewardModelPhase, RlPhase, Verdict } from '../config/phase.ts'
import { makeBatch, padPrompts } from '../experience/batch.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../testing.ts'
import { planMemory } from '../train/memory.ts'
import { type StepResult, Trainer, type TrainerConfig } from '../train/trainer.ts'
import { type SequenceRow, sequenceRow } from './pairs.ts'
import { sequencesOf } from './reward_training.ts'

const REWARDED: RlPhase = { ...RL, reward_model: { enable: true } }
/** A critic that learns nothing, so that it stays as it began. */
const still = (init: 'actor' | 'reward_model'): RlPhase => ({
  ...REWARDED,
  steps: 2,
  adv_estimator: 'gae',
  critic: { ...RL.critic, model: { init }, optim: { ...RL.critic.optim, lr: 0 } },
})

const rewardPhase = (
  change: Partial<RewardModelPhase>,
  pairs: Partial<Pairs> = {},
): RewardModelPhase => ({
  ...REWARD_MODEL,
  ...change,
  pairs: { ...REWARD_MODEL.pairs, ...pairs },
})

const create = async (config: TrainerConfig) => Trainer.create(await Gpu.open(), config)

async function finish(trainer: Trainer): Promise<StepResult[]> {
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  return results
}

/** Everything but wall times. */
const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics }) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) => !/^timing_|^perf\/(time_per_step|throughput)$/.test(name),
      ),
    ),
  )

/** The reward model of CONFIG in float64. */
class RewardRef {
  readonly layout = paramLayout(modelShape(CONFIG.model), 'reward_head')
  readonly weights = Float64Array.from(initialWeights(this.layout, CONFIG.seed))
  readonly #m = new Float64Array(this.layout.size)
  readonly #v = new Float64Array(this.layout.size)
  readonly #steps = this.layout.segment_ends.map(() => 0)

  /** The policy's transformer under the first score. */
  constructor(policy: Float32Array) {
    const from = paramLayout(modelShape(CONFIG.model))
    for (const { from_offset, to_offset, count } of sharedRuns(from, this.layout))
      this.weights.set(policy.subarray(from_offset, from_offset + count), to_offset)
  }

  get #params(): RefArrays {
    return Object.fromEntries(
      this.layout.params.map(({ name, offset, size }) => [
        name,
        this.weights.subarray(offset, offset + size),
      ]),
    )
  }

  #forward(rows: readonly SequenceRow[]) {
    const sequences = sequencesOf(rows, rows.length)
    const width = rows[0].input_ids.length
    const cache = forwardRef(CONFIG.model, this.#params, { ...sequences, rows: rows.length, width })
    const values = valuesRef(this.#params, cache)
    const last_rows = sequences.last_rows ?? new Uint32Array()
    return { cache, values, last_rows, scores: Float64Array.from(last_rows, (m) => values[m]) }
  }

  scores(rows: readonly SequenceRow[]): Float64Array {
    return this.#forward(rows).scores
  }

  /** One step on rows of which the first half is chosen. */
  update(rows: readonly SequenceRow[], lr: number) {
    const { cache, values, last_rows, scores } = this.#forward(rows)
    const { loss, accuracy, d_scores } = bradleyTerryRef(scores)
    const d_values = new Float64Array(values.length)
    last_rows.forEach((m, b) => {
      d_values[m] += d_scores[b]
    })
    const grads = valuesBackwardRef(CONFIG.model, this.#params, cache, d_values)
    const d_flat = new Float64Array(this.layout.size)
    for (const { name, offset } of this.layout.params) d_flat.set(grads[name], offset)
    const settings = { lr, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, max_norm: 1 }
    const { grad_norm } = adamw_step_ref(
      { weights: this.weights, m: this.#m, v: this.#v, steps: this.#steps },
      d_flat,
      settings,
      {
        count: this.layout.size,
        chunk_segment: chunkSegments(this.layout),
        active_segments: this.layout.segment_ends.length,
      },
    )
    const pairs = rows.length / 2
    const margin = scores.reduce((sum, s, i) => sum + (i < pairs ? s : -s), 0) / pairs
    return { loss, accuracy, margin, grad_norm }
  }
}

test('a phase follows float64 from the policy’s weights on, and its scores are the reward', async () => {
  // Every step sees every training pair, so their order does not matter; two passes of 6 pairs each.
  const reward = rewardPhase({ steps: 4, batch_size: 12 }, { count: 12, held_out: 5 })
  const trainer = await create({ ...CONFIG, phases: [SFT, reward, REWARDED] })
  while (trainer.step < SFT.steps) await trainer.next()
  const policy = await trainer.exportWeights()
  const ref = new RewardRef(policy)
  for (let step = 1; step <= 4; step++) {
    const { metrics, scored_pairs } = await trainer.next()
    const { training, held_out } = trainer.preferences ?? { training: [], held_out: [] }
    expect([training.length, held_out.length]).toEqual([12, 5])
    for (const { chosen, rejected } of [...training, ...held_out])
      expect(chosen.score).toBeGreaterThan(rejected.score)
    const rows = [...training.map((p) => p.chosen.row), ...training.map((p) => p.rejected.row)]
    const truth = ref.update(rows, reward.optim.lr)
    // Rounding of f32 over up to four AdamW steps, whose size does not shrink with the gradient.
    expect(metrics['reward_model/loss']).toBeCloseTo(truth.loss, 4)
    expect(metrics['reward_model/accuracy']).toBeCloseTo(truth.accuracy, 6)
    expect(metrics['reward_model/margin']).toBeCloseTo(truth.margin, 4)
    expect(metrics['reward_model/grad_norm'] / truth.grad_norm).toBeCloseTo(1, 3)
    expect(metrics['reward_model/pairs']).toBe(12)
    // Held-out pairs are scored after the first step and after the last.
    expect('reward_model/held_out_accuracy' in metrics).toBe(step === 1 || step === 4)
    if (step !== 4) continue
    const chosen = ref.scores(held_out.map((p) => p.chosen.row))
    const rejected = ref.scores(held_out.map((p) => p.rejected.row))
    const right = chosen.filter((score, i) => score > rejected[i]).length
    expect(metrics['reward_model/held_out_accuracy']).toBeCloseTo(right / 5, 6)
    expect(metrics['reward_model/held_out_margin']).toBeCloseTo(
      chosen.reduce((sum, score, i) => sum + score - rejected[i], 0) / 5,
      4,
    )
    const seen = scored_pairs?.map((pair) => pair.chosen_score)
    expectClose(Float64Array.from(seen ?? []), chosen, { atol: 1e-4, rtol: 1e-4 })
    expect(scored_pairs?.map((p) => [p.chosen_task_score, p.rejected_task_score])).toEqual(
      held_out.map((p) => [p.chosen.score, p.rejected.score]),
    )
  }
  // The policy rested.
  expect(await trainer.exportWeights()).toEqual(policy)

  // Reinforcement: every response's reward is its score at its last token, cut off or not.
  const { metrics, samples } = await trainer.next()
  const readable = samples.filter(({ response }) => !response.includes('<'))
  expect(readable.length).toBeGreaterThan(4)
  const R = CONFIG.task.max_response_length
  const rows = readable.map(({ prompt, response, is_ended }) => {
    const ids = new Uint32Array(R).fill(tokenizer.pad_token_id)
    ids.set([...tokenizer.encode(response), ...(is_ended ? [tokenizer.eos_token_id] : [])])
    const P = CONFIG.task.max_prompt_length
    const prompts = padPrompts([tokenizer.encode(prompt)], P, tokenizer.pad_token_id)
    const size = { rows: 1, prompt_length: P, response_length: R }
    return sequenceRow(makeBatch(prompts, ids, size, tokenizer.eos_token_id), 0)
  })
  const scores = Float64Array.from(readable, ({ rm_score }) => rm_score ?? Number.NaN)
  expectClose(scores, ref.scores(rows), { atol: 1e-4, rtol: 1e-4 })
  expect(readable.some(({ is_ended }) => !is_ended)).toBe(true)
  const mean = (of: (sample: StepResult['samples'][number]) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  expect(metrics['critic/score/mean']).toBeCloseTo(
    mean(({ rm_score }) => rm_score ?? Number.NaN),
    6,
  )
  expect(metrics['task/score/mean']).toBeCloseTo(
    mean(({ score }) => score),
    12,
  )
  trainer.destroy()
})

test('the same run gives the same bits, queued ahead or not; another seed makes other pairs', async () => {
  const config: TrainerConfig = {
    ...CONFIG,
    phases: [SFT, REWARD_MODEL, REWARDED],
    validation: { test_freq: 2, prompts: 10, n: 1 },
  }
  const texts = (trainer: Trainer) => trainer.preferences?.training.map((p) => p.chosen.text)
  const run = async (config: TrainerConfig) => {
    const trainer = await create(config)
    const results: StepResult[] = []
    let made: string[] | undefined
    while (!trainer.isFinished) {
      results.push(await trainer.next())
      made ??= texts(trainer)
    }
    const weights = await trainer.exportWeights()
    trainer.destroy()
    return { results, weights, made }
  }
  const first = await run(config)
  expect(first.made).toHaveLength(10)
  const ahead = await create(config)
  const pending: Promise<StepResult>[] = []
  while (!ahead.isFinished) pending.push((await ahead.queue()).result)
  expect(numbers(await Promise.all(pending))).toEqual(numbers(first.results))
  expect(await ahead.exportWeights()).toEqual(first.weights)
  ahead.destroy()
  expect((await run({ ...config, seed: 2 })).made).not.toEqual(first.made)
})

describe('a person', () => {
  const phase = (verdicts: readonly Verdict[]) =>
    rewardPhase({ steps: 5 }, { source: 'human', count: 8, held_out: 2, min_pairs: 4, verdicts })
  const config = (verdicts: readonly Verdict[]): TrainerConfig => ({
    ...CONFIG,
    phases: [SFT, phase(verdicts), REWARDED],
  })

  test('is waited for, taught from while training goes on, and repeated bit by bit', async () => {
    const trainer = await create(config([]))
    const results: StepResult[] = []
    while (trainer.step < SFT.steps) results.push(await trainer.next())
    expect(await trainer.ready()).toBe(false)
    expect(trainer.isWaiting).toBe(true)
    await expect(trainer.queue()).rejects.toThrow(/waits for verdicts/)
    expect(trainer.takePhaseStart()).toEqual({ phase: 1, reason: 'steps' })
    expect(trainer.takePhaseStart()).toBeUndefined()
    for (const { response_a, response_b } of trainer.preferences?.pending ?? [])
      expect(response_a).not.toBe(response_b)
    for (const [id, choice] of (['a', 'b', 'skip', 'b'] as const).entries())
      expect(trainer.decide(id, choice)).toBe(true)
    expect(trainer.decide(9, 'a')).toBe(false)
    expect(await trainer.ready()).toBe(false)
    trainer.decide(4, 'a')
    results.push(await trainer.next(), await trainer.next())
    expect(results.at(-1)?.metrics).toMatchObject({
      'reward_model/pairs': 3,
      'reward_model/held_out_pairs': 1,
      'reward_model/human_pairs': 4,
    })
    // A change of mind about a pair that was trained on, and one more.
    expect(trainer.undoVerdict()).toBe(true)
    expect(trainer.isWaiting).toBe(true)
    trainer.decide(4, 'b')
    trainer.decide(5, 'a')
    results.push(...(await finish(trainer)))
    // Accuracy is measured at both ends, and right after something was said.
    const measured = results.flatMap(({ step, metrics }) =>
      'reward_model/held_out_accuracy' in metrics ? [step] : [],
    )
    expect(measured).toEqual([4, 6, 8])
    const { log } = trainer.preferences ?? { log: undefined }
    // Only the phase itself is asked.
    expect(log).toBeUndefined()
    const weights = await trainer.exportWeights()
    trainer.destroy()

    const at = (step: number, ...choices: Verdict['choice'][]) =>
      choices.map((choice) => ({ choice, step }))
    const again = await create(
      config([...at(0, 'a', 'b', 'skip', 'b', 'a'), ...at(2, 'undo', 'b', 'a')]),
    )
    expect(numbers(await finish(again))).toEqual(numbers(results))
    expect(await again.exportWeights()).toEqual(weights)
    again.destroy()
    const otherwise = await create(config(at(0, 'b', 'b', 'skip', 'b', 'a')))
    expect(numbers(await finish(otherwise))).not.toEqual(numbers(results))
    otherwise.destroy()
  })

  test('a policy that says the same every time leaves nothing to prefer, and the run says so', async () => {
    const same = rewardPhase({}, { source: 'human', count: 2, held_out: 0, temperature: 1e-4 })
    const trainer = await create({ ...CONFIG, phases: [same] })
    await trainer.next()
    await expect(trainer.next()).rejects.toMatchObject({
      name: 'NoPairsError',
      message: expect.stringMatching(/no two responses to one prompt differ in text,.*8 prompts/),
    })
    trainer.destroy()
    const unfair = { ...CONFIG.task, score: () => 0 }
    const judged = await create({ ...CONFIG, task: unfair, phases: [rewardPhase({})] })
    await judged.next()
    await expect(judged.next()).rejects.toThrow(/differ in score/)
    judged.destroy()
  })
})

test('after the preparation nothing is created; one readback a step of the reward model, one more for its reward', async () => {
  const gpu = await Gpu.open()
  const phases = [SFT, rewardPhase({ steps: 6 }), { ...REWARDED, steps: 3 }]
  const config = { ...CONFIG, phases }
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  expect(planMemory(config).total()).toBe(gpu.counts.live_bytes - before)
  const made = { ...gpu.counts }
  const reads: number[] = []
  while (!trainer.isFinished) {
    if (trainer.step > 0) await trainer.ready()
    const { reads: already } = gpu.counts
    await trainer.next()
    reads.push(gpu.counts.reads - already)
  }
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect({ buffers, bind_groups, pipelines, live_bytes }).toEqual({
    buffers: made.buffers,
    bind_groups: made.bind_groups,
    pipelines: made.pipelines,
    live_bytes: made.live_bytes,
  })
  expect(reads).toEqual([0, 1, 1, 1, ...[1, 1, 1, 1, 1, 1], ...[3, 3, 3]])
  trainer.destroy()
})

test('reinforcement is held to the policy that it began with, whatever stood between', async () => {
  const kl = { ...RL.algorithm, use_kl_in_reward: true }
  const rl: RlPhase = {
    ...REWARDED,
    steps: 4,
    algorithm: kl,
    actor: { ...RL.actor, ppo_epochs: 2 },
  }
  const trainer = await create({ ...CONFIG, phases: [SFT, REWARD_MODEL, rl] })
  const results = await finish(trainer)
  const penalties = results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty'] ?? [])
  expect(penalties).toHaveLength(4)
  // The same weights on both sides.
  expect(penalties[0]).toBe(0)
  expect(Math.abs(penalties[3])).toBeGreaterThan(1e-4)
  for (const { metrics } of results.slice(-4)) expect(metrics['critic/rewards/mean']).not.toBeNaN()
  trainer.destroy()
})

test.for(['remax', 'gae', 'rloo'] as const)(
  '%s takes its reward from the reward model',
  async (adv_estimator) => {
    const rl: RlPhase = { ...REWARDED, adv_estimator, steps: 2 }
    const trainer = await create({ ...CONFIG, phases: [REWARD_MODEL, rl] })
    const results = await finish(trainer)
    const { metrics } = results[results.length - 1]
    expect(metrics['critic/score/max']).not.toBe(1)
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    trainer.destroy()
  },
)

/** Demonstrations say 0 and 1 equally often; the judge prefers 1. */
const TWO_ANSWERS: Task = {
  ...CONFIG.task,
  id: 'two_answers',
  sample: (seed, index, split) => ({
    ...CONFIG.task.sample(seed, index, split),
    ground_truth: '1',
    demonstration: `${(seed + (index >> 1)) % 2}`,
  }),
  score: (_, response) => (response === '1' ? 1 : 0),
}

test('judge, reward model, reinforcement: the policy learns what the judge prefers without ever seeing its score', async () => {
  const kl = { ...RL.algorithm, use_kl_in_reward: true }
  const trainer = await create({
    ...CONFIG,
    task: TWO_ANSWERS,
    phases: [
      { ...SFT, steps: 60, batch_size: 16, optim: { ...SFT.optim, lr: 5e-3 } },
      rewardPhase({ steps: 60, batch_size: 16 }, { count: 48, held_out: 32 }),
      {
        ...REWARDED,
        steps: 30,
        adv_estimator: 'rloo',
        rollout: { ...RL.rollout, train_batch_size: 8 },
        actor: { ...RL.actor, ppo_mini_batch_size: 4, optim: { ...RL.actor.optim, lr: 5e-3 } },
        algorithm: { ...kl, kl_ctrl: { ...kl.kl_ctrl, kl_coef: 0.1 } },
      },
    ],
    probe: { freq: 0, rows: 8 },
  })
  const results = await finish(trainer)
  trainer.destroy()
  const series = (name: string) => results.flatMap(({ metrics }) => metrics[name] ?? [])
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const task = series('task/score/mean')
  // 32 held-out pairs on prompts of their own; 2 and 8 steps of 32 responses. Measured: 0.94, 0.45 and 0.91.
  expect(series('reward_model/held_out_accuracy').at(-1)).toBeGreaterThan(0.8)
  expect(mean(task.slice(0, 2))).toBeLessThan(0.65)
  expect(mean(task.slice(-8))).toBeGreaterThan(0.8)
})

test.for(['reward_model', 'actor'] as const)('a critic begins as the %s', async (init) => {
  const config = { ...CONFIG, phases: [SFT, rewardPhase({}), still(init)] }
  const trainer = await create(config)
  let before = await trainer.exportState()
  while (!trainer.isFinished) {
    await trainer.next()
    if (trainer.phase < 2) before = await trainer.exportState()
  }
  const { critic, reward_model } = await trainer.exportState()
  trainer.destroy()
  if (!critic || !reward_model) throw new Error('expected a critic and a reward model')
  const of = (head: 'lm_head' | 'value_head' | 'reward_head') =>
    paramLayout(modelShape(CONFIG.model), head)
  const layout = of('value_head')
  const is_reward = init === 'reward_model'
  const [from, weights] = is_reward
    ? [of('reward_head'), reward_model.weights]
    : [of('lm_head'), before.actor.weights]
  for (const { from_offset, to_offset, count } of sharedRuns(from, layout))
    expect(critic.weights.subarray(to_offset, to_offset + count)).toEqual(
      weights.subarray(from_offset, from_offset + count),
    )
  // verl's critic takes the score of a reward model's checkpoint, which has no bias.
  const score = (at: { readonly offset: number } | undefined, flat: Float32Array) =>
    flat.subarray(at?.offset, (at?.offset ?? 0) + CONFIG.model.hidden_size)
  const first = initialWeights(layout, CONFIG.seed)
  const expected = is_reward
    ? score(from.slices.score, reward_model.weights)
    : score(layout.slices.score, first)
  expect(score(layout.slices.score, critic.weights)).toEqual(expected)
  expect(expected).not.toEqual(score(layout.slices.score, is_reward ? first : reward_model.weights))
  expect(critic.weights[layout.slices.score_bias?.offset ?? -1]).toBe(0)
})
