import { expect, test } from 'vitest'
import { mergeWanted } from './observing.ts'

const said = { prompt: '1+1=', response: '2', is_ended: true }

test('nobody wants anything', () => {
  expect(mergeWanted([], 3)).toEqual({
    ...{ groups: [], layer: 0, lens: undefined, tokens: false, token_layers: false, every: 3 },
  })
})

test('panels that want different things get all of it, each once', () => {
  const request = mergeWanted(
    [
      { groups: ['similarity', 'entropy'], layer: 2 },
      { groups: ['entropy', 'flow'] },
      { lens: { held_out: 1, samples: [said] } },
      { lens: { held_out: 3, samples: [{ ...said }, { ...said, is_ended: false }] }, tokens: true },
      { layer: 4, token_layers: true },
    ],
    1,
  )
  expect(request).toEqual({
    groups: ['entropy', 'flow', 'similarity'],
    layer: 4,
    lens: { held_out: 3, samples: [said, { ...said, is_ended: false }] },
    tokens: true,
    token_layers: true,
    every: 1,
  })
})
