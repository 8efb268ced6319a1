import { expect, test } from 'vitest'
import type { LensReadout, Observation } from '../../host/protocol/observation.ts'
import { observationLine } from './observation_file.ts'

const readout: LensReadout = {
  entropy: Float32Array.of(0.5, 1),
  top: ['1', '<eos>'],
  top_probs: Float32Array.of(0.75, 0.25),
  next_prob: Float32Array.of(0.125, Number.NaN),
}
const observation: Observation = {
  num_hidden_layers: 1,
  rows: 'responses',
  tokens: 7,
  layer: 0,
  mean: { cos_attn: [0.25] },
  std: { cos_attn: [0.5] },
  lenses: [
    {
      prompt: '1',
      response: '',
      is_ended: true,
      is_held_out: false,
      prompt_length: 1,
      tokens: ['1', '<eos>'],
      raw: readout,
      normed: readout,
    },
  ],
  cost_ms: { cosines: 2 },
}

test('a line holds the step and everything that was observed, NaN as null', () => {
  const line = observationLine(3, observation)
  expect(line).not.toContain('\n')
  const written = {
    entropy: [0.5, 1],
    top: ['1', '<eos>'],
    top_probs: [0.75, 0.25],
    next_prob: [0.125, null],
  }
  const [lens] = observation.lenses
  expect(JSON.parse(line)).toEqual({
    step: 3,
    observation: { ...observation, lenses: [{ ...lens, raw: written, normed: written }] },
  })
})

test('numbers keep six digits', () => {
  const line = observationLine(0, { ...observation, mean: { cos_attn: [1 / 3] } })
  expect(line).toContain('"mean":{"cos_attn":[0.333333]}')
})
