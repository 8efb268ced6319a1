import { expect, test } from 'vitest'
import { type Experiment, withField } from '../experiment.ts'
import { PRESETS } from '../presets.ts'
import { autoName } from './names.ts'
import { TINY } from './testing.ts'

function changed(...fields: [string, unknown][]): Experiment {
  return fields.reduce((experiment, [path, value]) => {
    const result = withField(experiment, path, value)
    if (!result.ok) throw new Error(result.message)
    return result.experiment
  }, TINY.experiment)
}

const nameOf = (...fields: [string, unknown][]) => autoName(changed(...fields), 'tiny', undefined)

test('a run of a preset as it is has the preset’s name', () => {
  expect(nameOf()).toEqual({ name: TINY.name, from: TINY.name })
})

test('a name says what differs from the preset', () => {
  expect(nameOf(['actor.optim.lr', 3e-4], ['phases.1.target_layer', 1]).name).toBe(
    'layer 1, lr 0.001 → 3e-4',
  )
  expect(nameOf(['seed', 7], ['phases.2.steps', 20]).name).toBe('seed 7, P3 steps 50 → 20')
  expect(nameOf(['actor.use_kl_loss', true]).name).toBe('+use kl loss')
})

test('many differences are counted', () => {
  const { name } = nameOf(
    ['seed', 2],
    ['phases.0.steps', 5],
    ['phases.1.steps', 6],
    ['phases.2.steps', 7],
    ['rollout.temperature', 0.5],
  )
  expect(name).toMatch(/^seed 2, .*, .*, 2 more$/)
})

test('other phases are named by their kinds, and pinned kernels not at all', () => {
  const [warm_start] = TINY.experiment.phases
  expect(nameOf(['phases', [warm_start]]).name).toBe('phases sft')
  expect(nameOf(['kernels', 'default']).name).toBe(TINY.name)
})

test('with a baseline, a name says what differs from that', () => {
  const baseline = { name: 'mine', experiment: changed(['seed', 7]) }
  expect(autoName(changed(['seed', 7], ['actor.optim.lr', 1e-4]), 'tiny', baseline)).toEqual({
    name: 'lr 0.001 → 1e-4',
    from: 'mine',
  })
  expect(autoName(changed(['seed', 7]), 'tiny', baseline).name).toBe('as mine')
})

test('without a known preset the nearest one is found', () => {
  const [, second] = PRESETS
  expect(autoName({ ...second.experiment }, 'gone', undefined).from).toBe(second.name)
})
