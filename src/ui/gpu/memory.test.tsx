// What of the memory was planned.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { applyEvent } from '../../page/events/apply.ts'
import { replayStore } from '../../page/state/replay.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { viewStore } from '../shown/shown.ts'
import { Memory } from './Memory.tsx'
import { partsLike, partsOfMemory } from './memory_words.ts'

const MIB = 1024 ** 2

test('the parts of a list have the unit of their sum, and what is said of them adds up to it', () => {
  const KIB = 1024
  expect(partsLike([9 * MIB, 1008 * KIB, 252 * KIB])).toEqual({
    whole: '10.23 MiB',
    parts: ['9.00 MiB', '0.98 MiB', '0.25 MiB'],
  })
  const large = partsLike([300 * MIB, 10 * KIB, 40 * KIB])
  expect(large).toEqual({ whole: '300.0 MiB', parts: ['300.0 MiB', '0.0 MiB', '0.0 MiB'] })
  expect(partsLike([100, 400])).toEqual({ whole: '500 B', parts: ['100 B', '400 B'] })
  expect(partsLike([]).parts).toEqual([])
  // Rounded one by one these would be 0.99 together.
  const thirds = partsLike([MIB / 3, MIB / 3, MIB / 3])
  expect(thirds).toEqual({ whole: '1.00 MiB', parts: ['0.34 MiB', '0.33 MiB', '0.33 MiB'] })
  for (let seed = 1; seed < 200; seed++) {
    const bytes = Array.from(
      { length: 8 },
      (_, i) => ((seed * 7919 * (i + 3)) % 977) ** 2 * (i + 1),
    )
    const { whole, parts } = partsLike(bytes)
    const sum = parts.reduce((all, text) => all + Math.round(100 * Number.parseFloat(text)), 0)
    expect(sum).toBe(Math.round(100 * Number.parseFloat(whole)))
  }
})

test('what is more than the settings say is named', () => {
  const parts = { total: 10 * MIB, planned: 8 * MIB }
  expect(partsOfMemory({ ...parts, panels: 0.5 * MIB })).toBe(
    'Training takes 8.00 MiB of it, as planned before it began. 0.50 MiB is for what open panels show, and 1.50 MiB for copies on their way from the GPU.',
  )
  expect(partsOfMemory({ ...parts, panels: 0 })).toContain('2.00 MiB is for copies')
  expect(partsOfMemory({ ...parts, panels: 2 * MIB })).toContain('2.00 MiB is for what open panels')
})

test('what was planned stands beside what is used, also once the settings are others', () => {
  const memory = { weights: 9 * MIB, scratch: 1.5 * MIB, probes: 0.5 * MIB }
  const rest = { run: 0, planned_bytes: 9 * MIB, counts: { buffers: 1 } }
  const event = { type: 'memory', memory, ...rest } as unknown as Parameters<typeof applyEvent>[1]
  const { experiment } = initialState()
  const settings = { runExperiment: experiment, experiment: { ...experiment, seed: 77 } }
  labStore.setState(applyEvent({ ...initialState(), ...settings }, event, 0), true)
  for (const store of [labStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  expect(renderToStaticMarkup(<Memory />)).toContain('Training takes 9.00 MiB of it')
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('before a run the memory of its settings stands by kind, and says that it is planned', () => {
  const memory = { weights: 9 * MIB, gradients: 3 * MIB, kv_cache: 0 }
  labStore.setState({ plan: { bytes: 12 * MIB, allowed_bytes: 99 * MIB, memory } })
  for (const store of [labStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  const shown = renderToStaticMarkup(<Memory />)
  expect(shown).toContain('as planned')
  expect(shown).toMatch(/in all.*12\.00 MiB.*weights.*9\.00 MiB.*gradients.*3\.00 MiB/)
  expect(shown).not.toContain('key-value cache')
  expect(shown).not.toContain('dispatches per step')
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('without a GPU nothing is promised of a recording, and one that holds none says so', () => {
  const error = { name: 'E', code: 'no_webgpu', message: '' } as const
  labStore.setState({ error })
  for (const store of [labStore, viewStore, replayStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  expect(renderToStaticMarkup(<Memory />)).toContain('>Where one can be trained, a run shows')
  replayStore.setState({ recording: {} as never })
  expect(renderToStaticMarkup(<Memory />)).toContain('This recording does not hold')
  vi.restoreAllMocks()
  replayStore.setState({ recording: undefined })
  labStore.setState(initialState(), true)
})
