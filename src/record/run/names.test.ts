import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { TINY } from '../../page/runs/testing.ts'
import { autoName, runName } from './names.ts'
import { NO_LABELS, type RunHeader } from './record.ts'

function changed(...fields: [string, unknown][]): Experiment {
  return fields.reduce((experiment, [path, value]) => {
    const result = withField(experiment, path, value)
    if (!result.ok) throw new Error(result.message)
    return result.experiment
  }, TINY.experiment)
}

const nameOf = (...fields: [string, unknown][]) => autoName(changed(...fields), 'tiny')

test('a run of a preset as it is is called by its method, as those that differ from it are', () => {
  expect(nameOf()).toMatchObject({ name: 'BuPO (GRPO), layer 2 first', from: TINY.name })
  const first = PRESETS.find(({ id }) => id === 'first-steps') ?? TINY
  expect(autoName(first.experiment, first.id).name).toBe('BuPO (REINFORCE++), layer 2 first')
})

test('a name says the method and what differs from the preset', () => {
  expect(nameOf(['actor.optim.lr', 3e-4], ['phases.1.target_layer', 1]).name).toBe(
    'BuPO (GRPO), layer 1 first, lr 0.0003',
  )
  expect(nameOf(['seed', 7], ['phases.2.steps', 20]).name).toBe(
    'BuPO (GRPO), layer 2 first, phase 3: 20 steps, seed 7',
  )
  expect(nameOf(['actor.use_kl_loss', true]).name).toBe(
    'BuPO (GRPO), layer 2 first, with KL in the loss',
  )
  expect(nameOf(['phases.1.target_layer', 'final'], ['rollout.n', 16]).name).toBe(
    'GRPO, 16 responses per prompt',
  )
})

test('a name says what was done by hand, and kernels that the tuner chose are nobody’s doing', () => {
  const steering = [
    { step: 12, kind: 'kernels', kernels: 'nn:tiled' },
    { step: 78, kind: 'set', path: 'actor.optim.lr', value: 0.0015 },
  ] as const
  const grpo = PRESETS.find(({ id }) => id === 'tiny-grpo') ?? TINY
  expect(autoName({ ...grpo.experiment, steering }, grpo.id).name).toBe(
    'GRPO, lr 0.0015 after step 78',
  )
})

test('of what was done by hand phases come first, then settings', () => {
  const [, phase] = TINY.experiment.phases
  const steering = [
    { step: 4, kind: 'next_phase' },
    { step: 19, kind: 'set', path: 'actor.optim.lr', value: 0.003 },
    { step: 33, kind: 'interrupt_phase', phase: { ...phase, name: 'RLOO' } },
  ] as const
  expect(autoName({ ...TINY.experiment, steering }, 'tiny').name).toBe(
    'BuPO (GRPO), layer 2 first, began RLOO after step 33, lr 0.003 after step 19',
  )
})

test('rows of one’s own are named, and not what comes along with them', () => {
  const task = { ...TINY.experiment.task, id: 'dataset', data: `sha256-${'0'.repeat(64)}` }
  const own = { ...task, name: 'countdown.jsonl' }
  const data = { ...TINY.experiment.data, train_max_samples: 320 }
  const experiment = { ...TINY.experiment, task: own, data } as Experiment
  expect(autoName(experiment, 'tiny').name).toBe('BuPO (GRPO), layer 2 first, countdown.jsonl')
})

test('runs of several seeds share a name', () => {
  expect(nameOf(['seed', 7], ['actor.optim.lr', 3e-4]).seedless).toBe(
    nameOf(['seed', 8], ['actor.optim.lr', 3e-4]).seedless,
  )
  expect(nameOf(['seed', 7]).seedless).toBe(nameOf().name)
})

test('a name says two differences at most beside the seed, and the rest is there to stand beside it', () => {
  const { name, words } = nameOf(
    ['seed', 2],
    ['phases.0.steps', 5],
    ['phases.1.steps', 6],
    ['phases.2.steps', 7],
    ['rollout.temperature', 0.5],
  )
  expect(name).toBe('BuPO (GRPO), layer 2 first, temperature 0.5, phase 1: 5 steps, seed 2')
  expect(words).toContain('phase 3: 7 steps')
  // What is changed most often is said first.
  const rate = nameOf(['actor.entropy_coeff', 0.01], ['rollout.n', 16], ['actor.optim.lr', 3e-4])
  expect(rate.name).toMatch(/^BuPO \(GRPO\), layer 2 first, lr 0.0003, /)
})

test('other phases are named by their method, and pinned kernels not at all', () => {
  const [warmStart] = TINY.experiment.phases
  expect(nameOf(['phases', [warmStart]]).name).toBe('Supervised, no reinforcement')
  expect(nameOf(['kernels', 'default']).name).toBe(nameOf().name)
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
  expect(autoName(experiment, rlhf.id)).toMatchObject({ name: 'RLOO', words: [] })
  const blob = { ...TINY.experiment, task: { ...TINY.experiment.task, data: 'x'.repeat(5000) } }
  expect(autoName(blob, 'tiny').name).toBe('BuPO (GRPO), layer 2 first, sort digits')
})

test('a run is called as its record, its experiment or its settings say, in this order', () => {
  const named = (experiment: Experiment, name = '') =>
    runName({
      header: { document: experiment, preset_id: 'tiny' } as RunHeader,
      labels: { ...NO_LABELS, id: 'a', color: 0, name },
    })
  const own = changed(['name', 'Warmer rollouts'], ['rollout.temperature', 1.5])
  expect(named(own)).toMatchObject({ name: 'Warmer rollouts', isAutomatic: false })
  expect(named(own, 'renamed').name).toBe('renamed')
  // Another preset's name was not given by a person.
  expect(named(changed(['name', PRESETS[1].experiment.name], ['seed', 7])).name).toBe(
    'BuPO (GRPO), layer 2 first, seed 7',
  )
})

test('without a known preset the nearest one is found', () => {
  const [, second] = PRESETS
  expect(autoName({ ...second.experiment }, 'gone').from).toBe(second.name)
})
