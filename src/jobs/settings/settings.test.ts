import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../document/experiment/fields/run_fields.ts'
import { TASK_PARAMS } from '../../document/experiment/fields/task_fields.ts'
import { SECTIONS } from '../../document/experiment/schema/document_fields.ts'
import { experimentSchema } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { leavesOf } from '../../rl/fields/field.ts'
import { commandOf } from '../testing.ts'
import { fateOf } from './carry.ts'
import { TARGETS } from './setting.ts'
import { divisor, SETTINGS } from './settings.ts'

/** Every field of the schema, by the path that the table has. */
const FIELDS = [
  ...leavesOf(ROOT).map(([path]) => path),
  'version',
  'kernels',
  'steering',
  'tools',
  'reward.parts',
  'phases.rl.target_layer',
  'task.id',
  ...[...TASK_PARAMS].flatMap(([, own]) => Object.keys(own).map((n) => `task.${n}`)),
  ...Object.entries(SECTIONS).flatMap(([section, tree]) =>
    leavesOf(tree).map(([path]) => `${section}.${path}`),
  ),
]

const has = (path: string, entry: string) =>
  entry.endsWith('.*') ? path.startsWith(entry.slice(0, -1)) : path === entry

test('every field of an experiment has a place in the table, and every entry has a field', () => {
  const entries = Object.keys(SETTINGS)
  expect(FIELDS.filter((path) => !entries.some((entry) => has(path, entry)))).toEqual([])
  expect(entries.filter((entry) => !FIELDS.some((path) => has(path, entry)))).toEqual([])
})

test('the sections of the table are those of the schema', () => {
  const parsed = experimentSchema.safeParse({})
  const sections = new Set(FIELDS.map((path) => path.split('.')[0]))
  expect([...sections].sort()).toEqual(Object.keys(parsed.data ?? {}).sort())
})

test('what has no counterpart says why, and what is refused says what would do', () => {
  for (const [path, setting] of Object.entries(SETTINGS))
    for (const target of TARGETS)
      for (const version of ['0.9', '0.7'] as const) {
        const fate = fateOf(setting, target, version)
        if ('lost' in fate) expect(fate.lost.length, path).toBeGreaterThan(15)
        if ('lost' in fate && fate.refuse) expect(fate.unless, path).not.toBeUndefined()
      }
})

/** Names of a configuration by the type of their defaults; any = null, or a reference to another
 * value. From verl's and the fork's _generated_ppo_trainer.yaml, without the parts for other back
 * ends. */
const keysOf = (name: string) => {
  const url = new URL(`../verl_names/${name}.json`, import.meta.url)
  const listed: Record<string, string[]> = JSON.parse(readFileSync(url, 'utf8'))
  return new Map(Object.entries(listed).flatMap(([type, keys]) => keys.map((key) => [key, type])))
}

const typeOf = (value: unknown) =>
  value === null ? 'any' : Array.isArray(value) ? 'list' : typeof value

/** Names that a configuration does not list, and that its code reads. */
const UNLISTED = [
  /^actor_rollout_ref\.model\.override_config\./,
  /^critic\.model\.override_config\./,
  /^reward(_model)?\.reward_kwargs\./,
  /^actor_rollout_ref\.actor\.optim\.betas$/,
  // The fork's reference lacks what its worker asks for.
  /^actor_rollout_ref\.ref\.(internal_policy_interative|internal_layer|iterative_steps)$/,
]

describe.for([
  ['verl', '0.9', 'verl_v0.9.0'],
  ['verl', '0.7', 'verl_v0.7.1'],
  ['bupo', '0.7', 'bupo_d3a85c6'],
] as const)('the command line of %s %s', ([target, version, file]) => {
  const keys = keysOf(file)

  test.for(PRESETS.map(({ id }) => id))('has only names of its configuration: %s', (id) => {
    const command = commandOf(id, target, version)
    if (typeof command === 'string') {
      expect(command.length).toBeGreaterThan(20)
      return
    }
    for (const [name, value] of command) {
      const key = name.replace(/^\+/, '')
      if (name.startsWith('+')) {
        expect(keys.has(key), `${key} is listed and needs no +`).toBe(false)
        expect(
          UNLISTED.some((known) => known.test(key)),
          key,
        ).toBe(true)
        continue
      }
      const type = keys.get(key)
      expect(type, `${key} is no name of ${file}`).toBeDefined()
      const own = typeof value === 'object' && value && 'in_job' in value ? 'string' : typeOf(value)
      if (type !== 'any' && own !== 'any') expect(own, key).toBe(type)
    }
  })
})

test('which presets leave as a job is a decision', () => {
  const refused = (target: 'verl' | 'bupo' | 'trl', version: '0.9' | '0.7' = '0.9') =>
    PRESETS.filter(({ id }) => typeof commandOf(id, target, version) === 'string').map(
      ({ id }) => id,
    )
  const byPeople = ['rlhf-tiny', 'rlhf-clicks', 'dpo-tiny', 'dpo-clicks']
  const withTools = ['calculator-products']
  const imitates = 'tiny-own-best'
  const taught = [
    'tiny-teacher',
    'tiny-teacher-advantage',
    'tiny-inner',
    'tiny-stale',
    'tiny-curriculum',
    'tiny-admission',
    'tiny-vectors',
    'tiny-muon',
    'tiny-entropy-target',
  ]
  const today = taught.filter((id) => id !== 'tiny-teacher-advantage')
  const stories = ['story-dpo-clicks', 'story-clicks']
  expect(refused('verl')).toEqual([...withTools, ...byPeople, imitates, ...today, ...stories])
  expect(refused('verl', '0.7')).toEqual([
    ...withTools,
    ...byPeople,
    imitates,
    'tiny-dapo',
    ...taught,
    ...stories,
  ])
  expect(refused('trl')).toEqual([
    'two-skills-ppo',
    ...withTools,
    'first-steps',
    'first-steps-gpu',
    'tiny-ppo',
    ...byPeople,
    imitates,
    'tiny-reinforce',
    'tiny-dapo',
    ...taught,
    'story-ends',
    ...stories,
    'story-animals',
    'story-warm-words',
    'story-lora',
    'smollm2-135m-countdown',
  ])
  expect(PRESETS.map(({ id }) => id).filter((id) => !refused('bupo').includes(id))).toEqual([
    'two-skills-bupo',
    'first-steps',
    'first-steps-gpu',
    'first-run',
    'first-run-gpu',
    'tiny',
  ])
})

test('a micro-batch divides its mini-batch', () => {
  expect([
    divisor(64, null),
    divisor(64, 64),
    divisor(64, 100),
    divisor(64, 63),
    divisor(60, 7),
  ]).toEqual([64, 64, 64, 32, 6])
})
