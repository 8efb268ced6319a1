import { expect, test } from 'vitest'
import { train } from './controls.ts'
import { mergeWanted } from './observing.ts'
import { openPage, port, withTestPages } from './testing.ts'

withTestPages()

const said = { prompt: '1+1=', response: '2', is_ended: true }

test('nobody wants anything', () => {
  expect(mergeWanted([], 3)).toEqual({
    groups: [],
    layer: 0,
    lens: undefined,
    tokens: false,
    token_layers: false,
    parts: false,
    readings: [],
    every: 3,
  })
})

test('without a panel moments compare the layer that the run trains', () => {
  expect(mergeWanted([], 1, 2).layer).toBe(2)
  expect(mergeWanted([{ groups: ['flow'] }], 1, 2).layer).toBe(2)
  expect(mergeWanted([{ layer: 1 }], 1, 2).layer).toBe(1)
  openPage('v=1&p=tiny')
  train()
  const started = port().commands.find(({ type }) => type === 'start')
  expect(started).toMatchObject({ observe: { moments: true, layer: 2 } })
})

test('panels that want different things get all of it, each once', () => {
  const request = mergeWanted(
    [
      { groups: ['similarity', 'entropy'], layer: 2 },
      { groups: ['entropy', 'flow'], readings: ['tuned'] },
      { lens: { held_out: 1, samples: [said] } },
      { lens: { held_out: 3, samples: [{ ...said }, { ...said, is_ended: false }] }, tokens: true },
      { layer: 4, token_layers: true, readings: ['jacobian', 'tuned'] },
    ],
    1,
  )
  expect(request).toEqual({
    groups: ['entropy', 'flow', 'similarity'],
    layer: 4,
    lens: { held_out: 3, samples: [said, { ...said, is_ended: false }] },
    tokens: true,
    token_layers: true,
    parts: false,
    readings: ['tuned', 'jacobian'],
    every: 1,
  })
})
