// Compares what an observed run shows with the float64 model and with the step’s own probes.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { momentsRef } from '../../kernels/moments/moments.ref.ts'
import { expectClose } from '../../kernels/testing.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import { lensRef } from '../../model/internals/lens.ref.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { makeBatch, promptBatch, type RolloutBatch } from '../experience/batch.ts'
import { CONFIG, PARITY } from '../testing.ts'
import { Trainer } from '../train/trainer.ts'
import { LENS_TOP, NO_OBSERVATION, OBSERVED_GROUPS } from './observation.ts'
import { ALL, BUPO, GROUPS, INNER, L, ROUNDING, train } from './testing.ts'

test.skipIf(!process.env.LONG_TESTS)(
  'means agree with what the step’s own probes say',
  async () => {
    const { results } = await train(BUPO, { ...ALL, every: 2 })
    expect(results.map(({ observation }) => observation !== undefined)).toEqual(
      // Every step of a short inner phase is looked at.
      results.map(({ step, phase }) => step % 2 === 0 || BUPO.phases[phase] === INNER),
    )
    for (const { step, metrics, observation } of results) {
      if (step === 0 || !observation) continue
      const { mean, tokens } = observation
      expect(tokens).toBeGreaterThan(8)
      for (let l = 0; l <= L; l++) {
        const of = l < L ? mean.ent_layer_raw : mean.ent_layer_norm
        expectClose([of?.[l] ?? Number.NaN], [metrics[`layer/entropy/${l}`]], ROUNDING)
      }
      // Metrics have what the blocks add on steps that evaluate.
      for (let l = 1; step % 2 === 0 && l <= L; l++) {
        expectClose([mean.dH_attn?.[l - 1] ?? 0], [metrics[`layer/delta_h_attn/${l}`]], ROUNDING)
        expectClose([mean.dH_ffn?.[l - 1] ?? 0], [metrics[`layer/delta_h_ffn/${l}`]], ROUNDING)
      }
    }
  },
)

/** The held-out rows that are looked at before the first step. */
function heldOut(count: number): RolloutBatch {
  const { eos_token_id } = arithmetic
  const samples = Array.from({ length: count }, (_, i) => PARITY.sample(CONFIG.seed, i, 'test'))
  const responseIds = Uint32Array.from(
    samples.flatMap(({ ground_truth }) => [...arithmetic.encode(ground_truth), eos_token_id, 0]),
  )
  const size = { rows: count, prompt_length: 3, response_length: 3 }
  return makeBatch(promptBatch(samples, PARITY), responseIds, size, eos_token_id)
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
    ...batch,
    positions: 'response' as const,
    layer: 2,
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
      input_ids,
      attention_mask: input_ids.map(() => 1),
      rows: 1,
      width: input_ids.length,
      position_ids: input_ids.map((_, s) => s),
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
      input_ids,
      attention_mask: input_ids.map(() => 1),
      rows: 1,
      width: input_ids.length,
      position_ids: input_ids.map((_, s) => s),
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
