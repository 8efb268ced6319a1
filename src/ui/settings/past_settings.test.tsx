// Tests that the settings of a past run are its own, and only to read.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import { TINY } from '../../page/runs/testing.ts'
import { NO_LABELS, RECORD_VERSION } from '../../record/run/record.ts'
import { PastSettings } from './PastSettings.tsx'

/** Of no run of another test: all share the library. */
const ID = 'past_settings'

/** A run of the preset tiny whose learning rate was 0.002, and 0.0015 after step 78. */
function entryOf(more: Partial<RunEntry['header']> = {}): RunEntry {
  const { experiment } = TINY
  const { actor } = experiment
  const set = { kind: 'set', path: 'actor.optim.lr', value: 0.0015, step: 78 } as const
  const header = {
    record_version: RECORD_VERSION,
    preset_id: TINY.id,
    document: { ...experiment, actor: withActor(0.002), steering: [set] },
    experiment: { ...experiment, actor: withActor(0.0015) },
    phase_switches: [
      { step: 0, phase: 0, reason: 'start' },
      { step: 66, phase: 1, reason: 'steps' },
      { step: 70, phase: 2, reason: 'steps' },
    ],
    step: 120,
    phase: 2,
    phase_step: 50,
    ...more,
  }
  function withActor(lr: number) {
    return { ...actor, optim: { ...actor.optim, lr } }
  }
  return { id: ID, labels: { ...NO_LABELS, id: ID, color: 0, name: 'mine' }, header } as never
}

const text = (entry: RunEntry) =>
  renderToStaticMarkup(<PastSettings entry={entry} isOpen={true} toggle={null} />)

test('they say whose they are, what was changed during the run, and what the preset says', () => {
  const html = text(entryOf())
  const said = html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  expect(said).toMatch(/Settings of “ ?mine ?”/)
  expect(said).toContain('Not the current run')
  expect(said).toContain('0.002, then 0.0015 after step 78')
  expect(said).toContain(`preset: ${TINY.experiment.actor.optim.lr}`)
  expect(said).toContain('the task’s own score')
  // A phase that takes the rate over has none of its own.
  expect(html).not.toContain('past-phases.2.actor.optim.lr')
  // What sets it apart is read first.
  expect(said.indexOf('after step 78')).toBeLessThan(said.indexOf('Experiment'))
  // The search is the only field.
  expect(html.match(/<(input|select|textarea)\b/g)).toHaveLength(1)
  expect(html).toContain('data-testid="use-settings"')
})

test('nothing is claimed of the settings of an imported run', () => {
  const source = { kind: 'verl_metrics', file: 'metrics.jsonl', remarks: [] }
  const html = text(entryOf({ source } as never))
  expect(html).toContain('A log does not say with which settings')
  expect(html).not.toContain('<dd')
  expect(html).not.toContain('use-settings')
})
