import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { initialState, type LabState } from '../../page/state/store.ts'
import { methodOf } from './PhaseItem.tsx'
import { addedPhase } from './PhaseTools.tsx'
import { phaseLength, selectShown } from './timeline.ts'

const presetExperiment = (id: string): Experiment => {
  const preset = presetOf(id)
  if (!preset) throw new Error(id)
  return preset.experiment
}
const running = (experiment: Experiment): LabState => ({
  ...initialState(),
  status: 'running',
  runExperiment: presetExperiment('tiny'),
  experiment,
})

test('a length that was just changed is shown at once, because the run follows it', () => {
  const longer = withField(presetExperiment('tiny'), 'phases.1.steps', 99)
  if (!longer.ok) throw new Error(longer.message)
  const shown = selectShown(running(longer.experiment))
  expect(shown.phases[1].steps).toBe(99)
  // A store that is asked twice has the same object.
  expect(selectShown(running(longer.experiment))).toBe(shown)
})

test('a phase that a person has ended is as long as it was, also before the next one begins', () => {
  const phases = resolvePhases(presetExperiment('tiny'))
  const line = { phases, present: 1, doneOf: (index: number) => 10 * (index + 1) }
  const lengths = (isEnding: boolean) => phases.map((_, i) => phaseLength(i, { ...line, isEnding }))
  const planned = phases.map(({ steps }) => steps)
  expect(lengths(false)).toEqual([10, ...planned.slice(1)])
  expect(lengths(true)).toEqual([10, 20, ...planned.slice(2)])
})

test('what waits for a restart is not drawn as the run’s', () => {
  const deeper = withField(presetExperiment('tiny'), 'model.num_hidden_layers', 5)
  if (!deeper.ok) throw new Error(deeper.message)
  const { model } = presetExperiment('tiny')
  expect(selectShown(running(deeper.experiment)).model).toEqual(model)
})

test('the phases of another preset that was chosen are not those of the run', () => {
  const tiny = presetExperiment('tiny')
  for (const id of ['tiny-grpo', 'tiny-ppo', 'rlhf-tiny'])
    expect(selectShown(running(presetExperiment(id)))).toBe(tiny)
  // Even where the phases are called the same.
  const [first, ...others] = tiny.phases
  const other = { ...tiny, name: 'another', phases: [{ ...first, steps: 5 }, ...others] }
  expect(selectShown(running(other))).toBe(tiny)
})

test('a phase of the whole model is of no single layer, and what its name says is said once', () => {
  const tiny = presetExperiment('tiny')
  const said = (experiment: Experiment) =>
    resolvePhases(experiment).map((phase) => methodOf(phase, experiment.model.num_hidden_layers))
  expect(said(tiny)).toEqual([', SFT', ', GRPO', ', GRPO'])
  const phases = tiny.phases.map((phase, i) => ({ ...phase, name: `part ${i + 1}` }))
  expect(said({ ...tiny, phases })).toEqual([', SFT', ', GRPO, layer 2', ', GRPO'])
})

test('reinforcement that is added goes on as the last does, with the whole model', () => {
  const { phases } = presetExperiment('first-steps')
  const actor = { grad_clip: 0.5 }
  const own = phases.map((phase) => ({ ...phase, name: 'mine', actor }) as PhaseDocument)
  const added = addedPhase('rl', own)
  expect(added).toEqual({ ...own[1], name: null })
  expect(addedPhase('rl', own.slice(0, 1))).toEqual({ ...added, steps: 4 })
})
