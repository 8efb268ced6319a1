// What the page says of settings that the run does not follow.
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { Pending } from './Pending.tsx'

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  labStore.setState(initialState(), true)
})

const page = () => renderToStaticMarkup(<Pending />)
const slower = (from: Experiment): Experiment => {
  const set = withField(from, 'actor.optim.lr', 0.004)
  if (!set.ok) throw new Error(set.message)
  return set.experiment
}

test('another experiment is said to be one, also where nothing but a live setting differs', () => {
  const { experiment } = initialState()
  const steering = [{ step: 3, kind: 'set', path: 'actor.optim.lr', value: 0.004 }] as const
  const run = { status: 'running', runExperiment: slower(experiment) } as const
  labStore.setState({ ...run, runDocument: { ...experiment, steering } })
  // The run follows by itself.
  labStore.setState({ experiment })
  expect(page()).toBe('')
  labStore.setState({ isBeside: true })
  expect(page()).toContain('is chosen, and another run is in progress')
  const dapo = presetOf('tiny-dapo')?.experiment ?? experiment
  labStore.setState({ experiment: dapo })
  expect(page()).toContain('“Tiny: DAPO” is chosen')
  labStore.setState({ experiment: slower(dapo) })
  expect(page()).toContain('Another experiment is chosen, and a run is in progress')
  // What was done to the run has nothing to do with it.
  expect(page()).not.toContain('by hand')
  labStore.setState({ isBeside: false })
  expect(page()).toContain('Restart needed')
  expect(page()).toContain('from its first step, and does not make the change by hand again')
})
