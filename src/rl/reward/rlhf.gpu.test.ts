// The phase of a reward model in the real trainer: against float64, and with a person’s verdicts.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import type { Verdict } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { makeBatch, padPrompts } from '../experience/batch.ts'
import { CONFIG, REWARD_MODEL, SFT } from '../testing.ts'
import { planMemory } from '../train/parts/memory.ts'
import type { StepResult } from '../train/parts/step_result.ts'
import { Trainer } from '../train/trainer.ts'
import { sequenceRow } from './pairs.ts'
import { RewardRef } from './reward_training.ref.ts'
import { create, finish, numbers, REWARDED, rewardPhase } from './testing.ts'

test('a phase follows float64 from the policy’s weights on, and its scores are the reward', async () => {
  // Every step sees every training pair, so their order does not matter; two passes of 6 pairs
  // each.
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
    const ids = new Uint32Array(R).fill(arithmetic.pad_token_id)
    ids.set([...arithmetic.encode(response), ...(is_ended ? [arithmetic.eos_token_id] : [])])
    const P = CONFIG.task.max_prompt_length
    const prompts = padPrompts([arithmetic.encode(prompt)], P, arithmetic.pad_token_id)
    const size = { rows: 1, prompt_length: P, response_length: R }
    return sequenceRow(makeBatch(prompts, ids, size, arithmetic.eos_token_id), 0)
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

test.skipIf(!process.env.LONG_TESTS)(
  'the same run gives the same bits, queued ahead or not; another seed makes other pairs',
  async () => {
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
    const other = await create({ ...config, seed: 2, phases: [{ ...SFT, steps: 1 }, REWARD_MODEL] })
    for (let i = 0; i < 3; i++) await other.next()
    expect(texts(other)).toHaveLength(10)
    expect(texts(other)).not.toEqual(first.made)
    other.destroy()
  },
)

describe('a person', () => {
  const phase = (verdicts: readonly Verdict[]) =>
    rewardPhase({ steps: 5 }, { source: 'human', count: 8, held_out: 2, min_pairs: 4, verdicts })
  const config = (verdicts: readonly Verdict[]): TrainerConfig => ({
    ...CONFIG,
    phases: [SFT, phase(verdicts), REWARDED],
  })

  test('is waited for, taught from while training continues, and repeated bit by bit', async () => {
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
  await trainer.prepareLater()
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
  expect(reads).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3])
  trainer.destroy()
})
