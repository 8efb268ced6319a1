import { expect, test } from 'vitest'
import { PRESETS } from '../../presets/presets.ts'
import { newPhase } from '../experiment.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import { experimentFields } from './form.ts'
import { likePhases, valuesBeside } from './like_phases.ts'

const rl = (target_layer: number | 'final', name = ''): PhaseDocument =>
  ({ ...newPhase('rl'), target_layer, name }) as PhaseDocument
const sft = newPhase('sft')

test('a phase is the one of the same kind, layer and name, wherever it stands', () => {
  expect(likePhases([sft, rl('final')], [sft, rl(2), rl('final')])).toEqual([0, 2])
  expect(likePhases([rl('final')], [rl(2), rl('final')])).toEqual([1])
  expect(likePhases([sft, rl(2), rl('final')], [sft, rl('final')])).toEqual([0, undefined, 1])
  // Another layer in the same place is the same phase, changed.
  expect(likePhases([rl(1), rl('final')], [rl(2), rl('final')])).toEqual([0, 1])
  expect(likePhases([rl('final', 'b')], [rl('final', 'a'), rl('final', 'b')])).toEqual([1])
  expect(likePhases([sft], [rl('final')])).toEqual([undefined])
  expect(likePhases([], [sft])).toEqual([])
})

test('what a phase says stands where the phase is now', () => {
  const preset = PRESETS.find(({ id }) => id === 'first-steps')?.experiment ?? PRESETS[0].experiment
  const left = preset.phases.filter((_, i) => i !== 1)
  const experiment = { ...preset, phases: left }
  const values = valuesBeside(experiment, preset, experimentFields(preset))
  const own = experimentFields(experiment)
  expect(own.filter(({ path, value }) => values.get(path) !== value)).toEqual([])
  expect([...values.keys()].some((path) => path.startsWith(`phases.${left.length}.`))).toBe(false)
})
