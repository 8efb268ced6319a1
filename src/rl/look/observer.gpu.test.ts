// Observing a run: it changes no bit of it, makes buffers once, and says what it cannot show.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { CONFIG, REWARD_MODEL, RL } from '../testing.ts'
import { Trainer } from '../train/trainer.ts'
import { NO_OBSERVATION } from './observation.ts'
import { ALL, BUPO, L, numbers, SAID, train } from './testing.ts'

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
    'demonstrations',
    'demonstrations',
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

test('buffers are made when something is asked for the first time, and freed when nobody asks', async () => {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, {
    ...CONFIG,
    phases: [{ ...RL, steps: 20 }],
    validation: { test_freq: null, prompts: 0, n: 0 },
  })
  await trainer.prepareLater()
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

  // Another text of the same number, and fewer groups: nothing is created.
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

test('who asks for more sees the next step, and then every so many', async () => {
  const trainer = await Trainer.create(await Gpu.open(), {
    ...CONFIG,
    phases: [{ ...RL, steps: 12 }],
    validation: { test_freq: null, prompts: 0, n: 0 },
  })
  const rarely = { ...NO_OBSERVATION, every: 5 }
  const flow = { ...rarely, groups: ['flow'] as const }
  const requests = new Map([
    [1, flow],
    [3, { ...rarely, groups: ['flow', 'cosines'] as const }],
    [7, rarely],
    [8, flow],
  ])
  const seen: number[] = []
  for (let step = 0; step <= 11; step++) {
    const request = requests.get(step)
    if (request) trainer.observe(request)
    const { nextObserved } = trainer
    const { observation } = await trainer.next()
    if (!observation) continue
    expect(nextObserved).toBe(step)
    seen.push(step)
  }
  // At 8 the panel was opened again.
  expect(seen).toEqual([1, 3, 5, 8, 10])
  trainer.destroy()
})
