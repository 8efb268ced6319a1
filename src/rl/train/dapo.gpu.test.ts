// Dynamic sampling in the trainer. All of DAPO together against float64: algorithms.gpu.test.ts.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { tokenMeans } from '../../model/internals/internal_quantities.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { makeBatch, padPrompts, type RolloutBatch } from '../experience/batch.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { planMemory } from './parts/memory.ts'
import type { StepResult, StepSample } from './parts/step_result.ts'
import { Trainer } from './trainer.ts'

const gpu = await Gpu.open()
const { max_prompt_length: P, max_response_length: R } = CONFIG.task
const L = CONFIG.model.num_hidden_layers

const only = (...phases: TrainerConfig['phases']): TrainerConfig => ({ ...CONFIG, phases })
const filtering = (
  change: Partial<RlPhase['algorithm']['filter_groups']> = {},
  rest: Partial<RlPhase> = {},
): RlPhase => ({
  ...RL,
  steps: 2,
  ...rest,
  algorithm: {
    ...RL.algorithm,
    filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 10, ...change },
  },
})

/** Weights whose responses are right now and then. */
const start = await Trainer.create(
  gpu,
  only({ ...SFT, steps: 18, optim: { ...SFT.optim, lr: 0.015 } }),
)
while (!start.isFinished) await start.next()
const WARM = await start.exportWeights()

async function run(config: TrainerConfig) {
  const trainer = await Trainer.create(gpu, config)
  trainer.importWeights(WARM)
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  return { results: results.slice(1), weights: await trainer.exportWeights() }
}

const groupsOf = (samples: readonly StepSample[], n = 4) =>
  Array.from({ length: samples.length / n }, (_, g) => samples.slice(g * n, (g + 1) * n))
const isInformative = (group: readonly StepSample[]) =>
  group.some(({ score }) => score !== group[0].score)
const shown = ({ prompt, response, score }: StepSample) => [prompt, response, score]

test('only prompts whose responses score differently are trained on, the first of them from the first batch', async () => {
  const [filtered, again, plain] = [
    await run(only(filtering())),
    await run(only(filtering())),
    await run(only({ ...RL, steps: 1 })),
  ]
  let drewMore = false
  for (const { metrics, samples } of filtered.results) {
    expect(samples).toHaveLength(16)
    expect(groupsOf(samples).every(isInformative)).toBe(true)
    expect(new Set(groupsOf(samples).map(([{ prompt }]) => prompt)).size).toBeGreaterThan(1)
    expect(metrics['group/informative']).toBe(1)
    const batches = metrics['train/num_gen_batches']
    expect(batches).toBeLessThanOrEqual(10)
    drewMore ||= batches > 1
    const found = metrics['group/informative_drawn'] * 4 * batches
    expect(found).toBeCloseTo(Math.round(found), 9)
    expect(found).toBeGreaterThanOrEqual(4 - 1e-9)
    expect(metrics['actor/entropy']).toBeGreaterThan(0)
    expect(metrics['actor/entropy']).toBeLessThan(Math.log(CONFIG.model.vocab_size))
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
  }
  expect(drewMore).toBe(true)
  const first = groupsOf(plain.results[0].samples).filter(isInformative).flat().map(shown)
  expect(first.length).toBeGreaterThan(0)
  expect(first.length).toBeLessThan(16)
  expect(filtered.results[0].samples.map(shown).slice(0, first.length)).toEqual(first)
  expect('train/num_gen_batches' in plain.results[0].metrics).toBe(false)
  expect(again.weights).toEqual(filtered.weights)
  expect(again.results.map((r) => r.samples)).toEqual(filtered.results.map((r) => r.samples))
})

test('where no prompt is informative the limit holds, the batch is as large as ever and nothing is learned', async () => {
  const flat = { ...CONFIG.task, score: () => 0 }
  const phase = filtering({ max_num_gen_batches: 3 }, { steps: 1 })
  const { results, weights } = await run({ ...only(phase), task: flat })
  const [{ metrics, samples }] = results
  expect(samples).toHaveLength(16)
  expect(metrics['train/num_gen_batches']).toBe(3)
  expect([metrics['group/informative_drawn'], metrics['group/informative']]).toEqual([0, 0])
  expect(metrics['actor/grad_norm']).toBe(0)
  expect(weights).toEqual(WARM)
  const plain = await run({ ...only({ ...RL, steps: 1 }), task: flat })
  expect(samples.map(shown)).toEqual(plain.results[0].samples.map(shown))
})

test('the batches of one step have random numbers of their own', async () => {
  const texts: string[] = []
  const decode = (ids: ArrayLike<number>) => {
    const text = arithmetic.decode(ids)
    texts.push(text)
    return text
  }
  const sample = () => CONFIG.task.sample(1, 0, 'train')
  const phase = filtering({ max_num_gen_batches: 2 }, { steps: 1 })
  const tokenizer = { ...arithmetic, decode }
  const task = { ...CONFIG.task, tokenizer, sample, score: () => 0 }
  await run({ ...only(phase), task })
  // Two batches of responses to one prompt, then the batch that was made of them.
  expect(texts).toHaveLength(48)
  expect(texts.slice(16, 32)).not.toEqual(texts.slice(0, 16))
  expect(texts.slice(32)).toEqual(texts.slice(0, 16))
})

test('a prompt may be informative by its penalties alone, if the metric counts them', async () => {
  const flat = { ...CONFIG.task, score: () => 0 }
  const overlong = (metric: 'acc' | 'seq_reward') => {
    const phase = filtering({ metric, max_num_gen_batches: 6 }, { steps: 1 })
    const overlong_buffer = { len: 2, penalty_factor: 0.5 }
    return { ...phase, algorithm: { ...phase.algorithm, overlong_buffer } }
  }
  const drawn = async (metric: 'acc' | 'seq_reward') => {
    const { results } = await run({ ...only(overlong(metric)), task: flat })
    return results[0].metrics['group/informative_drawn']
  }
  expect(await drawn('acc')).toBe(0)
  expect(await drawn('seq_reward')).toBeGreaterThan(0)
})

test('with every estimator’s extras it still works, and a step creates nothing', async () => {
  const correction = { ...RL.algorithm.rollout_correction, rollout_is: 'token' as const }
  const remax = filtering({}, { adv_estimator: 'remax', steps: 1 })
  const corrected = filtering({}, { steps: 1 })
  const config = only(
    { ...remax, algorithm: { ...remax.algorithm, balance_batch: true } },
    { ...corrected, algorithm: { ...corrected.algorithm, rollout_correction: correction } },
    filtering({}, { adv_estimator: 'gae', steps: 1 }),
  )
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect(planMemory(config).total()).toBe(live_bytes - before)
  trainer.importWeights(WARM)
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const after = gpu.counts
  expect([after.buffers, after.bind_groups, after.pipelines, after.live_bytes]).toEqual([
    buffers,
    bind_groups,
    pipelines,
    live_bytes,
  ])
  for (const { metrics } of results.slice(1)) {
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
  }
  // Both log-probs of every kept row belong together.
  expect(results[2].metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
  expect(results[2].metrics['rollout_corr/kl']).toBeCloseTo(0, 4)
  // ReMax: each prompt's own greedy score was taken off.
  for (const group of groupsOf(results[1].samples)) {
    const baselines = group.map(({ score, advantage }) => score - advantage)
    for (const b of baselines) expect(b).toBeCloseTo(baselines[0], 6)
  }
})

test('a phase that resets the optimizer forgets the last one’s momentum, another does not', async () => {
  const after = async (reset_optimizer: boolean) => {
    let isFlat = false
    const task = {
      ...CONFIG.task,
      score: (prompt: string, response: string) =>
        isFlat ? 0 : CONFIG.task.score(prompt, response),
    }
    const phases = [
      { ...RL, steps: 1 },
      { ...RL, steps: 1, reset_optimizer },
    ]
    const trainer = await Trainer.create(gpu, { ...only(...phases), task })
    trainer.importWeights(WARM)
    await trainer.next()
    await trainer.next()
    const between = await trainer.exportWeights()
    isFlat = true
    await trainer.next()
    return { between, end: await trainer.exportWeights() }
  }
  const [reset, kept] = [await after(true), await after(false)]
  expect(reset.between).toEqual(kept.between)
  expect(reset.between).not.toEqual(WARM)
  expect(reset.end).toEqual(reset.between)
  expect(kept.end).not.toEqual(kept.between)
})

/** The recorded batch: prompts as they were reported, responses as the tokenizer was shown them. */
function recorded(samples: readonly StepSample[], ids: readonly Uint32Array[]): RolloutBatch {
  const prompts = padPrompts(
    samples.map(({ prompt }) => arithmetic.encode(prompt)),
    P,
    arithmetic.pad_token_id,
  )
  const responseIds = Uint32Array.from(ids.flatMap((row) => [...row]))
  const size = { rows: samples.length, prompt_length: P, response_length: R }
  return makeBatch(prompts, responseIds, size, arithmetic.eos_token_id)
}

test('entropy changes of every layer are measured on steps that validate, in the same readback', async () => {
  const validation = { test_freq: 2, prompts: 10, n: 0 }
  const phases = [{ ...SFT, steps: 3 }]
  const measure = async (internals: boolean) => {
    const config = { ...only(...phases), validation, probe: { freq: 1, rows: 8, internals } }
    const before = gpu.counts.live_bytes
    const trainer = await Trainer.create(gpu, config)
    expect(planMemory(config).total()).toBe(gpu.counts.live_bytes - before)
    trainer.importWeights(WARM)
    const { reads, buffers } = gpu.counts
    const results = [await trainer.next(), await trainer.next(), await trainer.next()]
    const weights = await trainer.exportWeights()
    results.push(await trainer.next())
    return { results, weights, reads: gpu.counts.reads - reads, made: gpu.counts.buffers - buffers }
  }
  const [plain, measured] = [await measure(false), await measure(true)]
  expect([measured.reads, measured.made]).toEqual([plain.reads, plain.made])
  const names = ({ metrics }: StepResult) =>
    Object.keys(metrics).filter((name) => name.startsWith('layer/delta_h'))
  expect(measured.results.map((r) => names(r).length)).toEqual([0, 0, 2 * L, 2 * L])
  expect(plain.results.flatMap(names)).toEqual([])
  expect(measured.weights).toEqual(plain.weights)

  // The second step's demonstrations, under the weights it left behind.
  const { task, seed, model } = CONFIG
  const samples = Array.from({ length: 8 }, (_, i) => task.sample(seed, 8 + i, 'train'))
  const ids = samples.map(({ demonstration }) => {
    const answer = [...arithmetic.encode(demonstration), arithmetic.eos_token_id].slice(0, R)
    return Uint32Array.from({ length: R }, (_, t) => answer[t] ?? arithmetic.pad_token_id)
  })
  const batch = recorded(
    samples.map(({ prompt }) => ({ prompt }) as StepSample),
    ids,
  )
  const trainer = await Trainer.create(gpu, only(...phases))
  const exact = Object.fromEntries(
    Object.entries(unpackWeights(trainer.layout, measured.weights)).map(([name, x]) => [
      name,
      Float64Array.from(x),
    ]),
  )
  const cache = forwardRef(model, exact, { ...batch, width: P + R })
  const truth = tokenMeans(internalsRef(model, exact, cache, { ...batch, positions: 'response' }))
  const { metrics } = measured.results[2]
  for (const [name, expected] of [
    ['delta_h_attn', truth.dH_attn],
    ['delta_h_ffn', truth.dH_ffn],
  ] as const)
    expectClose(
      Array.from({ length: L }, (_, l) => metrics[`layer/${name}/${l + 1}`]),
      expected as Float64Array,
      { atol: 1e-4, rtol: 1e-4 },
    )
})
