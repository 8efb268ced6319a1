import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import { changeOf } from '../input/changed_fields.ts'
import { readExperiment } from '../input/experiment_source.ts'
import { withSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-set-'))
afterAll(() => rmSync(folder, { recursive: true }))

let said: string[] = []
beforeEach(() => {
  said = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void said.push(line))
})
afterEach(() => vi.restoreAllMocks())

const tiny = presetOf('tiny')?.experiment ?? {}
const set = (...given: string[]) => withSettings(tiny, given)

test('fields of a preset are set by their path, and said', () => {
  expect(set('actor.optim.lr=1e-4', 'phases.0.steps=5', 'name=my run', 'seed=3')).toMatchObject({
    name: 'my run',
    seed: 3,
    actor: { optim: { lr: 1e-4 } },
    phases: [{ steps: 5 }, {}, {}],
  })
  expect(said[0]).toMatch(/^actor\.optim\.lr: [\d.]+ → 0\.0001$/)
})

test('fields that fit one another only together are set together', () => {
  expect(set('rollout.train_batch_size=6', 'actor.ppo_mini_batch_size=6')).toMatchObject({
    rollout: { train_batch_size: 6 },
    actor: { ppo_mini_batch_size: 6 },
  })
  expect(set('actor.ppo_mini_batch_size=6', 'rollout.train_batch_size=6')).toMatchObject({
    rollout: { train_batch_size: 6 },
    actor: { ppo_mini_batch_size: 6 },
  })
})

test('a new task brings room for its answers', () => {
  expect(set('task.id=two_skills_addition')).toMatchObject({ task: { id: 'two_skills_addition' } })
})

test.for([
  ['lr=3', /no field lr in this experiment; did you mean actor\.optim\.lr or/],
  ['actor.optim.lrr=3', /did you mean actor\.optim\.lr\?/],
  ['phases.9.steps=3', /no field phases\.9\.steps/],
  ['seed', /expected key=value, such as seed=3, got 'seed'/],
  ['__proto__.x=1', /no field/],
  ['actor.optim.lr=999', /actor\.optim\.lr: expected a number from/],
  ['seed=many', /seed: expected a whole number/],
] as const)('--set %s is refused', ([given, message]) => {
  expect(() => set(given)).toThrow(message)
})

test('everything that is wrong is said at once', () => {
  for (const named of [/actor\.optim\.lr: /, /rollout\.n: /])
    expect(() => set('actor.optim.lr=999', 'rollout.n=0')).toThrow(named)
  const wrong = join(folder, 'wrong.json')
  writeFileSync(
    wrong,
    '{"seed": "x", "actor": {"optim": {"lrr": 3}}, "rollout": {"n": 1}, "phases": [{"kind": "rl", "stepps": 4}]}',
  )
  const lines = (() => {
    try {
      readExperiment(wrong)
    } catch (error) {
      return (error as Error).message.split('\n')
    }
    return []
  })()
  expect(
    lines
      .slice(1)
      .map((line) => line.trim().split(':')[0])
      .sort(),
  ).toEqual(['actor.optim.lrr', 'phases.0.stepps', 'rollout.n', 'seed'])
  expect(lines.join()).toContain('actor.optim.lrr: did you mean lr? unknown')
})

test('a file and a seed of its own come before what is set', async () => {
  const file = join(folder, 'own.json')
  writeFileSync(file, JSON.stringify({ ...tiny, seed: 1 }))
  const change = await changeOf({ seed: '2', set: ['rollout.n=4', 'seed=5'] }, {})
  expect(readExperiment(file, change)).toMatchObject({ seed: 5, rollout: { n: 4 } })
})
