import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { momentsRef } from '../../kernels/moments/moments.ref.ts'
import { expectClose } from '../../kernels/testing.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import { lensRef } from '../../model/internals/lens.ref.ts'
import { unpackWeights } from '../../model/params/params.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { makeBatch, promptBatch, type RolloutBatch } from '../experience/batch.ts'
import { CONFIG, PARITY, REWARD_MODEL, RL, SFT } from '../testing.ts'
import type { StepResult } from '../train/step_result.ts'
import { Trainer } from '../train/trainer.ts'
import {
  LENS_TOP,
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from './observation.ts'

const GROUPS = Object.keys(OBSERVED_GROUPS) as ObservedGroup[]
const SAID = { prompt: '3+=', response: '42', is_ended: false }
const ALL: ObservationRequest = {
  groups: GROUPS,
  layer: 2,
  lens: { held_out: 2, samples: [SAID] },
  tokens: false,
  token_layers: false,
  every: 1,
}
const ROUNDING = { atol: 3e-5, rtol: 2e-5 }
const L = CONFIG.model.num_hidden_layers
const INNER: RlPhase = { ...RL, name: 'inner', steps: 2, target_layer: 2 }
const BUPO: TrainerConfig = {
  ...CONFIG,
  phases: [{ ...SFT, steps: 2 }, INNER, { ...RL, steps: 2 }],
  validation: { test_freq: 2, prompts: 10, n: 2 },
  probe: { freq: 1, rows: 8, internals: true },
}

/** Everything but wall times and what they decide, and what was asked for besides. */
const numbers = (results: readonly StepResult[]) =>
  results.map(({ observation: _, trace: __, metrics, ...rest }) => ({
    ...rest,
    metrics: Object.fromEntries(
      Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
    ),
  }))

/** A whole run, each step queued before the numbers of the last are awaited. */
async function train(config: TrainerConfig, request?: ObservationRequest) {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, config)
  if (request) trainer.observe(request)
  const results: StepResult[] = []
  let in_flight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    if (in_flight) results.push(await in_flight)
    in_flight = result
  }
  if (in_flight) results.push(await in_flight)
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, weights }
}

test('a run that is observed at every step, tokens included, has the bits of one that nobody looks at', async () => {
  const config = {
    ...BUPO,
    phases: [...BUPO.phases, REWARD_MODEL, { ...RL, steps: 1, reward_model: { enable: true } }],
  }
  const plain = await train(config)
  const seen = await train(config, { ...ALL, tokens: true, token_layers: true })
  expect(numbers(seen.results)).toEqual(numbers(plain.results))
  expect(seen.weights).toEqual(plain.weights)
  expect(plain.results.some(({ observation, trace }) => observation || trace)).toBe(false)
  expect(seen.results.map(({ observation }) => observation?.rows)).toEqual([
    'held_out',
    ...['demonstrations', 'demonstrations'],
    // The policy rests while the reward model learns.
    ...Array(8).fill('responses'),
  ])
  expect(seen.results.map(({ trace }) => trace !== undefined)).toEqual(
    seen.results.map(({ samples }) => samples.length > 0),
  )
  // Every response of every traced step, whatever the batch and the probe hold.
  for (const { trace } of seen.results)
    for (const { tokens, layer_entropy } of trace?.samples ?? []) {
      expect(layer_entropy?.raw).toHaveLength(tokens.length * (L + 1))
      expect(layer_entropy?.normed).toHaveLength(tokens.length * (L + 1))
    }
})

test('means agree with what the step’s own probes say', async () => {
  const { results } = await train(BUPO, { ...ALL, every: 2 })
  expect(results.map(({ observation }) => observation !== undefined)).toEqual(
    results.map(({ step }) => step % 2 === 0),
  )
  for (const { step, metrics, observation } of results) {
    if (step === 0 || !observation) continue
    const { mean, tokens } = observation
    expect(tokens).toBeGreaterThan(8)
    for (let l = 0; l <= L; l++) {
      const of = l < L ? mean.ent_layer_raw : mean.ent_layer_norm
      expectClose([of?.[l] ?? Number.NaN], [metrics[`layer/entropy/${l}`]], ROUNDING)
    }
    for (let l = 1; l <= L; l++) {
      expectClose([mean.dH_attn?.[l - 1] ?? 0], [metrics[`layer/delta_h_attn/${l}`]], ROUNDING)
      expectClose([mean.dH_ffn?.[l - 1] ?? 0], [metrics[`layer/delta_h_ffn/${l}`]], ROUNDING)
    }
  }
})

/** The held-out rows that are looked at before the first step. */
function heldOut(count: number): RolloutBatch {
  const { eos_token_id } = arithmetic
  const samples = Array.from({ length: count }, (_, i) => PARITY.sample(CONFIG.seed, i, 'test'))
  const response_ids = Uint32Array.from(
    samples.flatMap(({ ground_truth }) => [...arithmetic.encode(ground_truth), eos_token_id, 0]),
  )
  const size = { rows: count, prompt_length: 3, response_length: 3 }
  return makeBatch(promptBatch(samples, PARITY), response_ids, size, eos_token_id)
}

test('every mean, deviation and lens is that of the float64 model', async () => {
  const trainer = await Trainer.create(await Gpu.open(), CONFIG)
  const { layout } = trainer
  const named = unpackWeights(layout, await trainer.exportWeights())
  const exact = Object.fromEntries(
    Object.entries(named).map(([name, x]) => [name, Float64Array.from(x)]),
  )
  trainer.observe(ALL)
  const { observation } = await trainer.next()
  trainer.destroy()
  if (!observation) throw new Error('step 0 was not observed')
  const batch = heldOut(8)
  const cache = forwardRef(CONFIG.model, exact, { ...batch, width: 6 })
  const truth = internalsRef(CONFIG.model, exact, cache, {
    ...{ ...batch, positions: 'response' as const, layer: 2 },
  })
  const N = batch.response_mask.length
  const { mean, std, lenses, refused } = observation
  for (const name of new Set(GROUPS.flatMap((group) => [...OBSERVED_GROUPS[group]]))) {
    const values = truth.values[name]
    const sets = Array.from({ length: values.length / N }, (_, entry) => [entry] as const)
    const expected = momentsRef(values, batch.response_mask, sets)
    expectClose(mean[name] ?? [], expected.mean, ROUNDING)
    expectClose(std[name] ?? [], expected.std, ROUNDING)
  }
  expect(observation.tokens).toBe(16)
  expect(Object.keys(observation.cost_ms)).toEqual([...GROUPS, 'lens'])
  expect(Object.values(observation.cost_ms).every((ms) => ms >= 0)).toBe(true)

  expect(refused).toBeUndefined()
  const first = PARITY.sample(CONFIG.seed, 0, 'test')
  expect(lenses.map(({ tokens }) => tokens)).toEqual([
    [...first.prompt, ...first.ground_truth, '<eos>'],
    expect.arrayContaining(['=', '<eos>']),
    ['3', '+', '=', '4', '2'],
  ])
  expect(lenses.map(({ is_held_out }) => is_held_out)).toEqual([true, true, false])
  expect(lenses[2].prompt_length).toBe(3)
  for (const lens of lenses) {
    const input_ids = lens.tokens.map((text) => arithmetic.tokens.indexOf(text))
    const row = {
      ...{ input_ids, attention_mask: input_ids.map(() => 1), rows: 1 },
      ...{ width: input_ids.length, position_ids: input_ids.map((_, s) => s) },
    }
    const expected = lensRef(CONFIG.model, exact, forwardRef(CONFIG.model, exact, row), LENS_TOP)
    for (const readout of ['raw', 'normed'] as const) {
      const { entropy, top, top_probs, next_prob } = lens[readout]
      expectClose(entropy, expected[readout].entropy, ROUNDING)
      expectClose(top_probs, expected[readout].probs, ROUNDING)
      expect(top).toEqual(Array.from(expected[readout].ids, (id) => arithmetic.tokens[id]))
      const last = next_prob.length - L - 1
      expectClose(
        next_prob.subarray(0, last),
        expected[readout].next_prob.subarray(0, last),
        ROUNDING,
      )
    }
  }
})

test('entropies at the tokens of a traced step are those of the lens and of the float64 model after that step', async () => {
  const gpu = await Gpu.open()
  // 16 rows, 6 at a time: the last chunk is not full.
  const trainer = await Trainer.create(gpu, {
    ...CONFIG,
    phases: [{ ...INNER, steps: 3 }],
    probe: { ...CONFIG.probe, rows: 6 },
  })
  trainer.observe({ ...NO_OBSERVATION, tokens: true, token_layers: true })
  await trainer.next()
  const { trace } = await trainer.next()
  if (!trace) throw new Error('step 1 was not traced')
  expect(trace.layers).toEqual({ num_hidden_layers: L, cost_ms: expect.any(Number) })
  expect(trace.samples).toHaveLength(16)
  const named = unpackWeights(trainer.layout, await trainer.exportWeights())
  const exact = Object.fromEntries(
    Object.entries(named).map(([name, x]) => [name, Float64Array.from(x)]),
  )
  for (const { prompt, tokens, layer_entropy } of trace.samples) {
    const input_ids = [
      ...arithmetic.encode(prompt),
      ...tokens.map((text) => arithmetic.tokens.indexOf(text)),
    ]
    const row = {
      ...{ input_ids, attention_mask: input_ids.map(() => 1), rows: 1 },
      ...{ width: input_ids.length, position_ids: input_ids.map((_, s) => s) },
    }
    const { raw, normed } = lensRef(
      CONFIG.model,
      exact,
      forwardRef(CONFIG.model, exact, row),
      LENS_TOP,
    )
    const first = (input_ids.length - tokens.length - 1) * (L + 1)
    const last = first + tokens.length * (L + 1)
    expectClose(layer_entropy?.raw ?? [], raw.entropy.subarray(first, last), ROUNDING)
    expectClose(layer_entropy?.normed ?? [], normed.entropy.subarray(first, last), ROUNDING)
  }

  // The lens, of the same weights: between two steps.
  const readable = trace.samples.filter(({ tokens }) => !tokens.includes(arithmetic.tokens[0]))
  const samples = readable.map(({ prompt, response, is_ended }) => ({ prompt, response, is_ended }))
  trainer.observe({ ...NO_OBSERVATION, lens: { held_out: 0, samples } })
  expect(gpu.memory().probes).toBe(0)
  const seen = await trainer.observeNow()
  expect(samples.length).toBeGreaterThan(4)
  expect(seen?.lenses).toHaveLength(samples.length)
  seen?.lenses.forEach((lens, i) => {
    const { tokens, layer_entropy } = readable[i]
    const first = (lens.prompt_length - 1) * (L + 1)
    const last = first + tokens.length * (L + 1)
    for (const readout of ['raw', 'normed'] as const)
      expectClose(
        layer_entropy?.[readout] ?? [],
        lens[readout].entropy.subarray(first, last),
        ROUNDING,
      )
  })

  // A trace that a person asks for brings them too; without a request, none does.
  trainer.observe({ ...NO_OBSERVATION, token_layers: true })
  trainer.traceNext()
  const next = await trainer.next()
  expect(next.observation).toBeUndefined()
  expect(next.trace?.samples[0].layer_entropy).toBeDefined()
  trainer.observe({ ...NO_OBSERVATION, tokens: true })
  const { trace: plain } = await trainer.next()
  expect(plain?.layers).toBeUndefined()
  expect(plain?.samples[0]).not.toHaveProperty('layer_entropy')
  trainer.destroy()
})

test('buffers are made when something is asked for the first time, and freed when nobody asks', async () => {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, {
    ...CONFIG,
    phases: [{ ...RL, steps: 20 }],
    validation: { test_freq: 0, prompts: 0, n: 0 },
  })
  const created = () => {
    const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
    return { buffers, bind_groups, pipelines, live_bytes }
  }
  const cost = async () => {
    const { dispatches, submits, reads } = gpu.counts
    await trainer.next()
    return [
      gpu.counts.dispatches - dispatches,
      gpu.counts.submits - submits,
      gpu.counts.reads - reads,
    ]
  }
  await trainer.next()
  const alone = await cost()
  const before = created()

  trainer.observe(ALL)
  await trainer.next()
  expect(gpu.memory().probes).toBeGreaterThan(0)
  const seen = await cost()
  // A few buffers for reading back more than before.
  const opened = created()
  expect(seen[0]).toBeGreaterThan(alone[0])
  // A readback for each group and for the lens; one more where stages are timed.
  expect([5, 6]).toContain(seen[2] - alone[2])
  await trainer.next()
  expect(created()).toEqual(opened)

  // Another text of the same number, and fewer groups: nothing is made anew.
  const fewer = { ...ALL, groups: ['flow'] as const, lens: { held_out: 3, samples: [] } }
  trainer.observe(fewer)
  const { observation } = await trainer.next()
  expect(Object.keys(observation?.cost_ms ?? {})).toEqual(['flow', 'lens'])
  expect(created()).toEqual({ ...opened, live_bytes: gpu.counts.live_bytes })
  expect(gpu.counts.live_bytes).toBeLessThan(opened.live_bytes)
  // The layer matters to the group that measures from it alone.
  trainer.observe({ ...fewer, layer: 1 })
  await trainer.next()
  expect(created()).toEqual({ ...opened, live_bytes: gpu.counts.live_bytes })

  trainer.observe({ ...NO_OBSERVATION, every: 3 })
  expect(gpu.memory().probes).toBe(0)
  const staged = created()
  expect(await cost()).toEqual(alone)
  expect(created()).toEqual(staged)
  // What is left are buffers for reading back.
  expect(staged.live_bytes - before.live_bytes).toBeLessThan(200_000)
  expect(await trainer.observeNow()).toBeUndefined()
  trainer.destroy()
})

test('what cannot be shown says why, and the rest is there', async () => {
  const trainer = await Trainer.create(await Gpu.open(), CONFIG)
  trainer.observe({
    ...ALL,
    layer: 9,
    lens: {
      held_out: 1,
      samples: [SAID, { ...SAID, response: '1x' }, { ...SAID, prompt: '123456' }],
    },
  })
  const { observation } = await trainer.next()
  expect(observation?.mean.cos_hidden).toBeUndefined()
  expect(observation?.mean.cos_attn).toHaveLength(L)
  expect(observation?.lenses).toHaveLength(2)
  const lines = observation?.refused?.split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^similarity: layer: expected 0 to 3, got 9/),
    expect.stringMatching(/^lens: encode: .*got "x" in "1x"/),
    expect.stringMatching(/^lens: expected a text of 1 to 6 tokens, got 8 in "12345642"/),
  ])
  // Between two steps, without one.
  trainer.observe({ ...NO_OBSERVATION, groups: ['cosines'] })
  const { step } = trainer
  const now = await trainer.observeNow()
  expect(now?.mean.cos_attn).toEqual(observation?.mean.cos_attn)
  expect(trainer.step).toBe(step)
  trainer.destroy()
})

test('a step that is profiled is observed all the same', async () => {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, CONFIG)
  trainer.observe({ ...ALL, groups: ['flow'] })
  await trainer.next()
  const { result, profile } = await gpu.profile(() => trainer.next())
  expect(result.observation?.mean.dH_attn).toHaveLength(L)
  expect(Object.keys(result.observation?.cost_ms ?? {})).toEqual(['flow', 'lens'])
  expect(profile.stages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['observe_flow', 'observe_lens']),
  )
  trainer.destroy()
})
