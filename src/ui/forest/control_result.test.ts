// What is said of a control beside the run that it is compared with.
import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { appendRow, type Series } from '../../host/columns/series.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import { labStore } from '../../page/state/store.ts'
import { controlSays, insideSays, settingsOfBoth } from './control_result.ts'
import { controlOf } from './control_run.ts'
import { studyOfBoth } from './StudyOfBoth.tsx'

const preset = PRESETS.find(({ id }) => id === 'two-skills-bupo')
if (!preset) throw new Error('no preset')
const whole = { ...preset.experiment, name: 'With it' }
const made = controlOf({ document: whole, experiment: whole })
if (!made) throw new Error('no control')
const control = made.experiment
/** Of the layer that the inner phase trains. */
const INNER = 'layer/entropy/5'
const METRIC = `val-aux/${whole.task.id}/acc/greedy`

const entry = (document: Experiment, share: number, status = 'finished', nats?: number) =>
  ({
    id: 'a',
    header: {
      document,
      experiment: document,
      status,
      metrics: { [METRIC]: share, ...(nats !== undefined && { [INNER]: nats }) },
    },
    labels: {},
  }) as unknown as RunEntry

function said(share: number, entries: readonly RunEntry[], document = control) {
  const series = new Map<string, Series>()
  appendRow(series, METRIC, 0, 0.5)
  appendRow(series, METRIC, 100, share)
  const runExperiment = { ...document, validation: { ...document.validation, prompts: 128 } }
  return controlSays(
    { ...labStore.getState(), runDocument: document, runExperiment, series },
    entries,
  )
}

const both = (document: Experiment, entries: readonly RunEntry[]) =>
  settingsOfBoth(
    { ...labStore.getState(), runDocument: document, runExperiment: document },
    entries,
  )

test('a run and its control make a study of two arms, from either of them', () => {
  const pair = both(control, [entry(whole, 0.95)])
  expect(pair).toEqual([whole, control])
  expect(both(whole, [entry(control, 0.95)])).toEqual([whole, control])
  expect(both(whole, [entry(whole, 0.95)])).toBeUndefined()
  const made = studyOfBoth(pair ?? [])
  expect(made).toMatchObject({ ok: true, runs: 10 })
  expect(made.ok && made.arms.map(({ experiment }) => experiment.phases)).toEqual([
    whole.phases,
    control.phases,
  ])
})

test('a control is compared with its run', () => {
  expect(said(0.94, [entry(whole, 0.95)])).toBe(
    'With the inner phase it solved 95.0\u00a0% of new problems, without it 94.0\u00a0%: 128 problems tell no difference. That is one seed of each.',
  )
  expect(said(0.6, [entry(whole, 0.95)])).toContain('the inner phase helped')
  expect(said(0.95, [entry(whole, 0.6)])).toContain('the inner phase cost something')
})

test('a run is told what its control came to, on its own page too', () => {
  expect(said(0.95, [entry(control, 0.6)], whole)).toBe(
    'With the inner phase it solved 95.0\u00a0% of new problems, without it 60.0\u00a0%: here the inner phase helped. That is one seed of each.',
  )
  expect(said(0.95, [entry(whole, 0.6)], whole)).toBeUndefined()
  expect(said(0.95, [entry(control, 0.6, 'stopped')], whole)).toBeUndefined()
  expect(said(0.95, [entry({ ...control, seed: control.seed + 1 }, 0.6)], whole)).toBeUndefined()
})

test('it is said what differs inside, from either of them', () => {
  const inside = (nats: number, document: Experiment, other: RunEntry) => {
    const series = new Map<string, Series>()
    appendRow(series, INNER, 100, nats)
    const shown = { ...labStore.getState(), runDocument: document, runExperiment: document, series }
    return insideSays(shown, [other])
  }
  const words = 'Inside they differ: layer 5 ends at 0.81 nats with the inner phase, 1.51 without.'
  expect(inside(1.51, control, entry(whole, 0.95, 'finished', 0.81))).toBe(words)
  expect(inside(0.81, whole, entry(control, 0.94, 'finished', 1.51))).toBe(words)
  expect(inside(1.51, control, entry(whole, 0.95, 'finished', 1.5))).toBeUndefined()
  expect(inside(1.51, control, entry(whole, 0.95))).toBeUndefined()
})

test('kernels and names make no other run; settings, seeds and unfinished runs do', () => {
  const parsed = parseExperiment({ ...control, name: 'Mine' })
  if (!parsed.ok) throw new Error('not parsed')
  expect(said(0.94, [entry(whole, 0.95)], parsed.experiment)).toContain('no difference')
  expect(said(0.94, [entry({ ...whole, seed: whole.seed + 1 }, 0.95)])).toBeUndefined()
  expect(said(0.94, [entry(whole, 0.95, 'failed')])).toBeUndefined()
  expect(said(0.94, [entry(control, 0.95)])).toBeUndefined()
  expect(said(0.94, [])).toBeUndefined()
})

test('only a run and a control to which the same was done are compared', () => {
  const step = 12
  const change = { step, kind: 'set', path: 'actor.optim.lr', value: 0.003 } as const
  const steered = { ...whole, steering: [change] }
  const again = controlOf({ document: steered, experiment: steered })?.experiment
  if (!again) throw new Error('no control')
  expect(said(0.6, [entry(steered, 0.95)], again)).toContain('the inner phase helped')
  expect(said(0.95, [entry(again, 0.6)], steered)).toContain('the inner phase helped')
  expect(said(0.95, [entry(again, 0.6)], whole)).toBeUndefined()
  expect(said(0.95, [entry(control, 0.6)], steered)).toBeUndefined()
  expect(said(0.6, [entry(steered, 0.95)])).toBeUndefined()
  const later = { ...again, steering: [{ ...change, step: step + 1 }] }
  expect(said(0.95, [entry(later, 0.6)], steered)).toBeUndefined()
  // The like one is found behind an unlike one that is newer.
  expect(said(0.95, [entry(again, 0.6), entry(control, 0.94)], whole)).toContain('94.0')
  expect(both(whole, [entry(again, 0.6)])).toBeUndefined()
})
