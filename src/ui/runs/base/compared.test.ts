import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { PRESETS } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { duelStore } from '../../../page/runs/duel/duel.ts'
import { libraryStore, type RunEntry } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { valueAt } from '../../plot/still/figure_lines.ts'
import { SAMPLED_SMOOTHING, smoothed } from '../../scales/smooth.ts'
import { REWARD } from '../../shown/metrics.ts'
import { overlayStore } from '../../shown/overlays.ts'
import { entryOf } from '../table/testing.ts'
import { comparedNumber } from './columns.ts'
import { columnsOfGroup, drawnGroups, followTicks, smoothOfGroup } from './compared.ts'
import { selectionStore } from './selection.ts'

// The task of the other run is none: what follows in this process must not meet it.
afterAll(() => {
  selectionStore.setState(selectionStore.getInitialState(), true)
  libraryStore.setState(libraryStore.getInitialState(), true)
  labStore.setState(labStore.getInitialState(), true)
})

test('a ticked run of another task is not drawn over the charts, and comes back with its task', async () => {
  const own = entryOf('a', { lr: 0.001 })
  const other = entryOf('b', { lr: 0.01 })
  const { experiment } = other.header
  const brackets = { ...experiment, task: { ...experiment.task, id: 'brackets' } } as const
  const foreign: RunEntry = { ...other, header: { ...other.header, experiment: brackets } }
  labStore.setState({ experiment: own.header.experiment, runExperiment: undefined })
  libraryStore.setState({ entries: [own, foreign], isReady: true })
  onTestFinished(followTicks())
  const drawn = () => overlayStore.getState().overlays.map(({ id }) => id)
  selectionStore.setState({ ticked: ['a', 'b'], band: undefined })
  // Ticks are for the comparison: the charts of Learning show them when they are asked to.
  await new Promise((resolve) => setTimeout(resolve))
  expect(drawn()).toEqual([])
  selectionStore.setState({ isBehind: true })
  await vi.waitFor(() => expect(drawn()).toEqual(['a']))
  labStore.setState({ experiment: brackets })
  await vi.waitFor(() => expect(drawn()).toEqual(['b']))
})

test('a run that is brought back has the tick that it was deleted with', () => {
  const entries = [entryOf('a', {}), entryOf('b', {}), entryOf('c', {})]
  libraryStore.setState({ entries, deleted: [], isReady: true })
  onTestFinished(followTicks())
  const ticked = () => selectionStore.getState().ticked
  selectionStore.setState({ ticked: ['a', 'b'], band: undefined, isBehind: false })
  libraryStore.setState({ deleted: ['a', 'c'] })
  expect(ticked()).toEqual(['b'])
  libraryStore.setState({ deleted: [] })
  expect(ticked()).toEqual(['b', 'a'])
  // One that is gone for good has none, should another of its id come.
  libraryStore.setState({ deleted: ['a'] })
  libraryStore.setState({ entries: entries.slice(1), deleted: [] })
  libraryStore.setState({ entries })
  expect(ticked()).toEqual(['b'])
})

test('what the page draws behind by itself begins with the same model', async () => {
  const own = entryOf('a', { lr: 0.001 })
  const { experiment } = own.header
  labStore.setState({ experiment, runExperiment: undefined })
  libraryStore.setState({ entries: [own], isReady: true })
  onTestFinished(followTicks())
  const drawn = () => overlayStore.getState().overlays.map(({ id }) => id)
  selectionStore.setState({ ticked: ['a'], band: undefined, isBehind: 'same_start' })
  await vi.waitFor(() => expect(drawn()).toEqual(['a']))
  const wider = { ...experiment.model, hidden_size: 2 * experiment.model.hidden_size }
  labStore.setState({ experiment: { ...experiment, model: wider } })
  await vi.waitFor(() => expect(drawn()).toEqual([]))
  // A person may compare what they like.
  selectionStore.setState({ isBehind: true })
  await vi.waitFor(() => expect(drawn()).toEqual(['a']))
})

test('without a tick the run that began last is drawn, unless it is hidden', () => {
  const at = (id: string, started_at: number, hidden = false): RunEntry => {
    const entry = entryOf(id, { lr: 0.001 })
    const { header, labels } = entry
    return { ...entry, header: { ...header, started_at }, labels: { ...labels, hidden } }
  }
  const entries = [at('hidden', 4, true), at('new', 3), at('between', 2), at('old', 1)]
  const drawn = (ticked: readonly string[]) =>
    drawnGroups(entries, { ...selectionStore.getInitialState(), band: undefined, ticked }).flatMap(
      (group) => group.entries.map(({ id }) => id),
    )
  expect(drawn([])).toEqual(['new'])
  expect(drawn(['old', 'between'])).toEqual(['old', 'between'])
})

test('the smoothed line of several runs lies within the band that is drawn around it', () => {
  const series = (...values: number[]) =>
    new Map([[REWARD, Series.of(Float64Array.from(values.keys()), Float64Array.from(values))]])
  const early = Array<number>(8).fill(0.3)
  labStore.setState({ series: series(...early, 0.2, 0.2, 0.2, 0.9) })
  libraryStore.setState({ living: 'x' })
  duelStore.setState({
    second: { ...labStore.getState(), series: series(...early, 0.4, 0.2, 0.3, 0.8) },
    secondId: 'y',
  })
  const entries = [entryOf('x', {}), entryOf('y', { seed: 2 })]
  const smooth = smoothOfGroup({ label: '', entries, again: [] }, 'range', () => REWARD)
  const last = (values: ArrayLike<number> | undefined) => values?.[11] ?? Number.NaN
  expect(last(smooth?.middle)).toBeLessThan(0.8)
  expect(last(smooth?.low)).toBeLessThan(last(smooth?.middle))
  expect(last(smooth?.high)).toBeGreaterThan(last(smooth?.middle))
  duelStore.setState(duelStore.getInitialState(), true)
})

test('a reward is smoothed in its line alone: its numbers are measured ones', () => {
  const rewards = [...Array<number>(11).fill(0.2), 0.9]
  const columns = Series.of(Float64Array.from(rewards.keys()), Float64Array.from(rewards))
  labStore.setState({ series: new Map([[REWARD, columns]]) })
  libraryStore.setState({ living: 'x' })
  const run = entryOf('x', {})
  const summaries = { [REWARD]: extendSummary(undefined, rewards) }
  const entry = { ...run, header: { ...run.header, summaries } }
  const group = { label: '', entries: [entry], again: [] }
  const smooth = smoothOfGroup(group, undefined, () => REWARD)
  // As Learning draws it.
  expect(smooth?.middle[11]).toBe(smoothed(columns, SAMPLED_SMOOTHING).values[11])
  expect(smooth?.middle[11]).toBeLessThan(0.6)
  const middle = columnsOfGroup(group, undefined, () => REWARD)?.mean.values ?? []
  const line = { key: 'x', label: '', color: '', dash: [], at: columns.steps, middle, length: 12 }
  expect(valueAt({ ...line, smooth }, undefined)).toBe(0.9)
  expect(comparedNumber(entry, 'score')).toBe(0.9)
  expect(comparedNumber(entry, 'score', 'highest')).toBe(0.9)
  // An average of a few points would lag behind what they say.
  const few = Series.of(columns.steps.slice(0, 9), columns.values.slice(0, 9))
  labStore.setState({ series: new Map([[REWARD, few]]) })
  expect(smoothOfGroup(group, undefined, () => REWARD)).toBeUndefined()
  // A study keeps a few points alone: an average of them would be another number.
  const study = { id: 's', name: 'S', arm: 'a', seconds: 1 }
  const ofStudy = { ...entry, header: { ...entry.header, study } }
  const points = { label: '', entries: [ofStudy], again: [] }
  expect(smoothOfGroup(points, undefined, () => REWARD)).toBeUndefined()
})

test('a run that trains has a line of its own beside the mean of those that are over', () => {
  const half = entryOf('half', { seed: 3 })
  const running: RunEntry = { ...half, header: { ...half.header, status: 'running', step: 2 } }
  const again: RunEntry = { ...running, id: 'again', header: { ...running.header, id: 'again' } }
  const entries = [entryOf('a', {}), entryOf('b', { seed: 2 }), running, again]
  const selection = { ...selectionStore.getInitialState(), band: 'range' as const }
  const lines = drawnGroups(entries, { ...selection, ticked: entries.map(({ id }) => id) })
  expect(lines.map((line) => line.entries.map(({ id }) => id))).toEqual([
    ['a', 'b'],
    ['half'],
    ['again'],
  ])
  expect(lines.every((line) => line.again.length === 0)).toBe(true)
})

test('ticks are there again on the next visit, once their runs are listed', () => {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const visit = () => {
    selectionStore.setState({ ticked: [], band: undefined, isBehind: false })
    libraryStore.setState(libraryStore.getInitialState(), true)
    return followTicks()
  }
  const ticked = () => selectionStore.getState().ticked
  const leave = visit()
  libraryStore.setState({ entries: [entryOf('a', {}), entryOf('b', {})], isReady: true })
  selectionStore.setState({ ticked: ['b', 'a'] })
  leave()
  onTestFinished(visit())
  expect(ticked()).toEqual([])
  // One of a study is listed later.
  libraryStore.setState({ entries: [entryOf('a', {})], isReady: true })
  expect(ticked()).toEqual(['a'])
  libraryStore.setState({ entries: [entryOf('a', {}), entryOf('b', {})] })
  expect(ticked()).toEqual(['a', 'b'])
  expect(kept.get('understory.runs_ticked')).toBe('["a","b"]')
})

test('runs that cannot be compared have no line that is their mean', () => {
  const [a, b] = [entryOf('a', {}), entryOf('b', { seed: 2 })]
  const document = PRESETS.find(({ experiment }) => experiment.task.id === 'story')?.experiment
  if (!document) throw new Error('the preset is gone')
  const other = { ...b, header: { ...b.header, document } }
  const lines = (one: RunEntry) => {
    const { view } = selectionStore.getInitialState()
    const selection = { band: 'range', view: { ...view, group: 'fact:status' } } as const
    return drawnGroups([a, one], { ...selection, ticked: ['a', 'b'] }).length
  }
  expect([lines(b), lines(other)]).toEqual([1, 2])
})
