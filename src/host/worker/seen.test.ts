import { expect, test } from 'vitest'
import {
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from '../protocol/observation.ts'
import { type Seen, seenTogether } from './seen.ts'

const seen = (
  request: Partial<ObservationRequest>,
  observation: Partial<Observation>,
  step = 3,
): Seen => ({
  step,
  request: { ...NO_OBSERVATION, ...request },
  observation: {
    num_hidden_layers: 1,
    tokens: 4,
    mean: {},
    std: {},
    layer: request.layer ?? 0,
    lenses: [],
    cost_ms: {},
    ...observation,
  },
})
const similarity = seen(
  { groups: ['similarity'], layer: 1 },
  {
    mean: { kl_of_layer: [2, 0] },
    std: { kl_of_layer: [1, 0] },
    cost_ms: { similarity: 5 },
    refused: 'lens: no',
  },
)
const cosines = seen({ groups: ['cosines'], layer: 0 }, { mean: { cos_ffn: [0.5] } })

test('what a state has shown is added to, and says which layer its divergences are from', () => {
  const { request, observation } = seenTogether(similarity, cosines)
  expect(request).toMatchObject({ groups: ['similarity', 'cosines'], layer: 1 })
  expect(observation.mean).toEqual({ kl_of_layer: [2, 0], cos_ffn: [0.5] })
  expect(observation.std).toEqual({ kl_of_layer: [1, 0] })
  expect(observation.cost_ms).toEqual({ similarity: 5 })
  expect(observation.layer).toBe(1)
  expect(observation.refused).toBeUndefined()
})

test('the newer numbers replace the older ones, texts among them', () => {
  const text = { prompt: '1', response: '2', is_ended: true }
  const lens = (response: string) =>
    seen({ lens: { held_out: 0, samples: [{ ...text, response }] } }, { tokens: response.length })
  const both = seenTogether(seenTogether(similarity, lens('2')), lens('34'))
  expect(both.request.lens?.samples[0].response).toBe('34')
  expect(both.observation.tokens).toBe(2)
  const other = seen({ groups: ['similarity'] }, { mean: { kl_of_layer: [0, 7] } })
  expect(seenTogether(both, other).observation).toMatchObject({
    layer: 0,
    mean: { kl_of_layer: [0, 7] },
  })
})

test('another step starts over', () => {
  const next = { ...cosines, step: 4 }
  expect(seenTogether(similarity, next)).toBe(next)
  expect(seenTogether(undefined, next)).toBe(next)
})
