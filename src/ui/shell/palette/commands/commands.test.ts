import { beforeEach, expect, test } from 'vitest'
import { PRESETS } from '../../../../document/presets/presets.ts'
import { type ReplayState, replayStore } from '../../../../page/state/replay.ts'
import { initialState, type LabState, labStore } from '../../../../page/state/store.ts'
import { ranked } from '../../../kit/fuzzy.ts'
import { emptyHistory, historyStore } from '../../../settings/history.ts'
import { uiStore } from '../../../shown/store.ts'
import { paletteEntries } from '../entries.ts'
import { commandOf } from '../keys/shortcuts.ts'
import { PANEL_KEYS } from './command.ts'
import { COMMANDS } from './commands.ts'

const state = (change: Partial<LabState>): LabState => ({ ...initialState(), ...change })
const ids = (of: LabState) => paletteEntries(of, false).map(({ id }) => id)

beforeEach(() => {
  historyStore.setState(emptyHistory())
  labStore.setState(initialState())
  uiStore.setState({ atStep: undefined })
})

test('no two commands share an id or a key, and no pair begins with a key of its own', () => {
  const all = COMMANDS.map(({ id }) => id)
  expect(new Set(all).size).toBe(all.length)
  const keys = [...COMMANDS.flatMap(({ keys = [] }) => keys), ...PANEL_KEYS.flatMap((p) => p.keys)]
  expect(new Set(keys).size).toBe(keys.length)
  for (const key of keys.filter((k) => k.includes(' ')))
    expect(keys).not.toContain(key.split(' ')[0])
})

test('keys find their command, alone and as pairs', () => {
  expect(commandOf('S', undefined)?.id).toBe('step')
  expect(commandOf('Mod+Y', undefined)?.id).toBe('redo')
  expect(commandOf('T', 'G')?.id).toBe('tab-tokens')
  expect(commandOf('R', 'G')?.id).toBe('tab-runs')
  expect(commandOf('R', undefined)?.id).toBe('reset')
  expect(commandOf('X', 'G')).toBeUndefined()
  expect(commandOf('X', undefined)).toBeUndefined()
})

test('only what can be done now is offered, under the name that it has now', () => {
  const idle = ids(state({ status: 'idle' }))
  expect(idle).toContain('train')
  expect(idle).toContain('step')
  expect(idle).not.toContain('reset')
  expect(idle).not.toContain('undo')
  expect(idle).not.toContain('save-csv')
  const running = paletteEntries(state({ status: 'running' }), false)
  expect(running.find(({ id }) => id === 'train')?.name).toBe('Pause')
  expect(running.map(({ id }) => id)).toContain('reset')
})

test('Escape ends a zoom, and is left alone where there is none', () => {
  const all = commandOf('Escape', undefined)
  expect(all?.can?.(state({}))).toBe(false)
  uiStore.setState({ zoom: { low: 2, high: 3 } })
  expect(all?.can?.(state({}))).toBe(true)
  all?.run()
  expect(uiStore.getState().zoom).toBeUndefined()
})

test('a recording that is over is played again, as the button says', () => {
  const nameOf = () =>
    paletteEntries(state({ status: 'finished' }), false).find(({ id }) => id === 'train')?.name
  expect(nameOf()).toBe('Train again')
  replayStore.setState({ recording: {} as ReplayState['recording'] })
  expect(nameOf()).toBe('Play again')
  replayStore.setState({ recording: undefined })
})

test('a query reaches presets and settings too, and a command of the same name is first', () => {
  const entries = paletteEntries(state({ status: 'running' }), true)
  const found = (query: string) =>
    ranked(query, entries, ({ name, also, bonus }) => ({ text: name, also, bonus })).map(
      ({ item }) => item.id,
    )
  expect(found('reset')[0]).toBe('reset')
  expect(found('tiny dapo')[0]).toBe('preset-tiny-dapo')
  expect(found('hidden size')[0]).toBe('setting-model.hidden_size')
  expect(entries.filter(({ id }) => id.startsWith('preset-')).length).toBe(PRESETS.length)
})
