import { expect, test } from 'vitest'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import type { TokenTable } from '../../host/protocol/results.ts'
import type { Recording } from './recorded.ts'
import { MAX_RECORDING_LENGTH, readRecording, writeRecording } from './recording.ts'

/** What the tests below take out of a file. */
interface Document {
  events: [
    number,
    {
      metrics?: object
      observation?: { lenses: { raw: { entropy: number[] } }[] }
      type?: string
      step?: number
      phase?: number
    },
  ][]
}

const experiment = presetOf('tiny')?.experiment as Experiment
const table = {
  phase: resolvePhases(experiment)[1],
  loss_mode: 'vanilla',
  rows: 1,
  nonzero_rewards: 0,
  updates: 1,
  samples: [
    {
      prompt: '321',
      response: '12',
      ground_truth: '123',
      score: 0,
      is_ended: true,
      tokens: ['1', '2', '\n'],
      columns: { ratio: [1, 0.5, Number.NaN] },
      group: { rewards: [0, 0], lengths: [3, 3], place: 1 },
    },
  ],
} as TokenTable
const readout = {
  entropy: Float32Array.of(1, 0.5),
  top: ['a', 'b'],
  top_probs: Float32Array.of(0.5, 0.25),
  next_prob: Float32Array.of(0.5, Number.NaN),
}
const recording: Recording = {
  experiment,
  adapter: {
    vendor: 'v',
    architecture: 'a',
    description: 'an adapter',
    is_software: true,
    features: ['subgroups'],
    has_subgroups: true,
    has_f16: false,
    max_buffer_bytes: 1,
    max_binding_bytes: 1,
  },
  date: '2026-11-21',
  versions: { understory: '0.1.0' },
  tokens: ['<pad>', '<eos>', '1', '2'],
  events: [
    { at_ms: 0, event: { type: 'phase', step: 0, phase: 0, reason: 'start' } },
    {
      at_ms: 1,
      event: {
        type: 'step',
        step: 0,
        phase: 0,
        phase_step: 0,
        metrics: { a: Number.NaN, b: 0.25 },
      },
    },
    { at_ms: 5, event: { type: 'phase', step: 0, phase: 1, reason: 'steps' } },
    {
      at_ms: 5,
      event: { type: 'step', step: 1, phase: 1, phase_step: 1, metrics: { c: 123456789 } },
    },
    { at_ms: 5, event: { type: 'trace', step: 1, table } },
    {
      at_ms: 7,
      event: {
        type: 'generations',
        step: 1,
        generations: [
          { input: '21', output: '12', gts: '12', score: 1, do_sample: false, is_ended: true },
        ],
      },
    },
    {
      at_ms: 9,
      event: {
        type: 'observed',
        step: 1,
        observation: {
          num_hidden_layers: 3,
          rows: 'held_out',
          tokens: 2,
          mean: { ent_layer_raw: [1, 2, 3, 4] },
          std: {},
          layer: 1,
          lenses: [
            {
              prompt: '1',
              response: '',
              is_ended: false,
              is_held_out: true,
              tokens: ['1'],
              prompt_length: 1,
              raw: readout,
              normed: readout,
            },
          ],
          cost_ms: { lens: 1.5 },
        },
      },
    },
  ],
}

test('a recording comes back as it was, NaN, typed arrays and traced phases included', () => {
  expect(readRecording(writeRecording(recording))).toEqual({ ok: true, recording })
})

test('a traced step may bring the entropies of its layers; a file whose are cut is refused', () => {
  const [sample] = table.samples
  const layerEntropy = {
    raw: Float32Array.of(0, 0.5, 1, 1.5, 2, 2.5),
    normed: Float32Array.of(3, 2.5, 2, 1.5, 1, 0.5),
  }
  const written = (of: typeof layerEntropy) => {
    const layers = { num_hidden_layers: 1, cost_ms: 2.5 }
    const whole = { ...table, layers, samples: [{ ...sample, layer_entropy: of }] }
    const events = recording.events.map(({ at_ms, event }) => ({
      at_ms,
      event: event.type === 'trace' ? { ...event, table: whole } : event,
    }))
    return { ...recording, events }
  }
  const whole = written(layerEntropy)
  expect(readRecording(writeRecording(whole))).toEqual({ ok: true, recording: whole })
  const cut = written({ ...layerEntropy, raw: Float32Array.of(1) })
  expect(readRecording(writeRecording(cut))).toMatchObject({
    ok: false,
    problem: expect.stringContaining('the entropies of the layers are cut'),
  })
})

test('numbers keep six digits, whole ones all', () => {
  const step = { type: 'step', step: 0, phase: 0, phase_step: 0 } as const
  const metrics = { a: 0.123456789, b: 123456789, 'timing_s/step': 0.123456 }
  const text = writeRecording({
    ...recording,
    events: [{ at_ms: 0.4, event: { ...step, metrics } }],
  })
  const read = readRecording(text)
  expect(read.ok && read.recording.events).toEqual([
    {
      at_ms: 0,
      event: { ...step, metrics: { a: 0.123457, b: 123456789, 'timing_s/step': 0.1235 } },
    },
  ])
})

test('what is no recording is refused in a sentence', () => {
  const text = writeRecording(recording)
  const changed = (change: (document: Document) => void) => {
    const document = JSON.parse(text)
    change(document)
    return JSON.stringify(document)
  }
  const bad: [string, RegExp][] = [
    ['', /not JSON/],
    ['[]', /no recording/],
    ['null', /no recording/],
    [' '.repeat(MAX_RECORDING_LENGTH + 1), /too long/],
    [changed((d) => Object.assign(d, { recording: 2 })), /version 1: recording/],
    [changed((d) => Object.assign(d, { date: 'today' })), /: date/],
    [changed((d) => Object.assign(d, { adapter: {} })), /: adapter/],
    [changed((d) => Object.assign(d, { experiment: { seed: -1 } })), /experiment cannot be read/],
    [changed((d) => Object.assign(d, { events: [] })), /no steps/],
    [changed((d) => d.events.push([10, { type: 'alert' }])), /events.7/],
    [changed((d) => d.events.push([0, d.events[0][1]])), /comes before/],
    [changed((d) => d.events.push([10, d.events[3][1]])), /comes twice/],
    [changed((d) => d.events.push([10, { ...d.events[0][1], phase: 9 }])), /phase 9/],
    [changed((d) => d.events.push([10, { ...d.events[4][1], step: 5 }])), /step 5 .*before/],
    [changed((d) => d.events.splice(2, 1)), /none of reinforcement/],
    [changed((d) => d.events[6][1].observation?.lenses[0].raw.entropy.pop()), /cut/],
    [changed((d) => Object.assign(d.events[1][1].metrics ?? {}, { x: 'y' })), /metrics/],
  ]
  for (const [source, why] of bad) {
    const read = readRecording(source)
    expect(read.ok ? 'was read' : read.problem, source.slice(0, 60)).toMatch(why)
  }
})
