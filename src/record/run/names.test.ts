import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { begun, recorderOn, stepEvent, TINY, told } from '../../page/runs/testing.ts'
import { autoName, runName } from './names.ts'
import { NO_LABELS, type RunHeader } from './record.ts'
import { memoryStorage } from './storage.ts'

function changed(...fields: [string, unknown][]): Experiment {
  return fields.reduce((experiment, [path, value]) => {
    const result = withField(experiment, path, value)
    if (!result.ok) throw new Error(result.message)
    return result.experiment
  }, TINY.experiment)
}

const nameOf = (...fields: [string, unknown][]) => autoName(changed(...fields), 'tiny')

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

test('what a person said in a run and texts of their own are no name', () => {
  const [, rlhf] = PRESETS.filter(({ experiment }) =>
    experiment.phases.some(({ kind }) => kind === 'reward_model'),
  )
  const taught = structuredClone(rlhf.experiment) as unknown as {
    phases: { pairs?: { verdicts: string } }[]
  }
  for (const { pairs } of taught.phases) if (pairs) pairs.verdicts = 'abbabs3abab'
  const experiment = taught as unknown as Experiment
  expect(autoName(experiment, rlhf.id).name).toBe(rlhf.name)
  const blob = { ...TINY.experiment, task: { ...TINY.experiment.task, data: 'x'.repeat(5000) } }
  expect(autoName(blob, 'tiny').name).toBe('own data')
})

test('a run is called as its record, its experiment or its first document says, in this order', async () => {
  const named = (experiment: Experiment, name = '', auto_name?: string) =>
    runName({
      header: { document: experiment, preset_id: 'tiny', auto_name } as RunHeader,
      labels: { ...NO_LABELS, id: 'a', color: 0, name },
    })
  const own = changed(['name', 'Warmer rollouts'], ['rollout.temperature', 1.5])
  expect(named(own)).toMatchObject({ name: 'Warmer rollouts', is_automatic: false })
  expect(named(own, 'renamed').name).toBe('renamed')
  // Another preset's name was not given by a person.
  expect(named(changed(['name', PRESETS[1].experiment.name], ['seed', 7])).name).toBe('seed 7')
  // Steering changes the document while the run continues, and its name not.
  expect(named(changed(['seed', 8]), '', 'seed 7').name).toBe('seed 7')
})

test('the name of a run is made when it begins, and kept when it continues', async () => {
  const storage = memoryStorage()
  const { recorder } = recorderOn(storage)
  recorder.see(told(begun(1, changed(['seed', 7])), stepEvent(1, 0)))
  await recorder.flush()
  const header = (await storage.list()).headers[0] as RunHeader
  expect(header.auto_name).toBe('seed 7')
  const before = { ...header, auto_name: 'as it was' }
  const later = recorderOn(storage, { headerOf: () => before })
  later.recorder.see(told(begun(1, changed(['seed', 8])), stepEvent(1, 0)))
  await later.recorder.flush()
  expect((await storage.list()).headers[0]).toMatchObject({ auto_name: 'as it was' })
})

test('without a known preset the nearest one is found', () => {
  const [, second] = PRESETS
  expect(autoName({ ...second.experiment }, 'gone').from).toBe(second.name)
})
