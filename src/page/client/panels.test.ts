// Tests what open panels want to see, and when the worker learns it.
import { expect, test } from 'vitest'
import { train } from './controls.ts'
import { setHidden, wantedRequest, wantObserved } from './observing.ts'
import { adapter, draw, openPage, port, withTestPages } from './testing.ts'

withTestPages()

test('what panels want is remembered, merged, and sent once a frame while a run is on', () => {
  openPage()
  const observed = () => port().commands.filter(({ type }) => type === 'observe')
  const stopFlow = wantObserved('flow', { groups: ['flow'] })
  draw()
  expect(observed()).toEqual([])
  train()
  const nothing = {
    groups: [],
    // Of the phases it is the first that trains an inner one.
    layer: 5,
    lens: undefined,
    tokens: false,
    token_layers: false,
    every: 1,
    parts: false,
    readings: [],
    moments: true,
  }
  expect(port().commands.at(-1)).toMatchObject({ observe: { ...nothing, groups: ['flow'] } })
  const stopSimilarity = wantObserved('similarity', { groups: ['similarity'], layer: 2 })
  const stopTokens = wantObserved('tokens', { tokens: true })
  draw()
  draw()
  const both = { ...nothing, groups: ['flow', 'similarity'], layer: 2 }
  expect(observed()).toEqual([{ type: 'observe', request: { ...both, tokens: true } }])
  // Closed and opened again within a frame.
  stopTokens()
  const again = wantObserved('tokens', { tokens: true })
  draw()
  expect(observed()).toHaveLength(1)
  stopTokens()
  for (const stop of [stopFlow, stopSimilarity, again]) stop()
  draw()
  expect(observed().at(-1)).toEqual({ type: 'observe', request: nothing })
})

test('nothing is observed while the page is hidden, and what panels want again when it is shown', () => {
  openPage()
  const observed = () => port().commands.filter(({ type }) => type === 'observe')
  const stop = wantObserved('flow', { groups: ['flow'], token_layers: true })
  train()
  setHidden(true)
  draw()
  expect(observed()).toMatchObject([{ request: { groups: [], token_layers: false } }])
  // A panel that changes its mind meanwhile, and a run that begins, ask for nothing either.
  const stopMore = wantObserved('similarity', { groups: ['similarity'], layer: 2 })
  draw()
  expect(observed()).toHaveLength(1)
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', observe: { groups: [] } })
  setHidden(false)
  draw()
  expect(observed().at(-1)).toMatchObject({
    request: { groups: ['flow', 'similarity'], layer: 2, token_layers: true },
  })
  // Hidden and shown within a frame.
  setHidden(true)
  setHidden(false)
  draw()
  expect(observed()).toHaveLength(2)
  stop()
  stopMore()
  draw()
})

test('software adapters are observed less often', () => {
  openPage()
  port().says({ type: 'adapter', adapter: { ...adapter, is_software: false } })
  draw()
  expect(wantedRequest().every).toBe(1)
  port().says({ type: 'adapter', adapter })
  draw()
  expect(wantedRequest().every).toBe(5)
})
