// Names of a list of runs: each its own, with what tells them apart beside it.
import { expect, test } from 'vitest'
import { presetOf } from '../../../document/presets/presets.ts'
import { runName } from '../../../record/run/names.ts'
import { distinctNames, shortNames, unsaidWords } from '../../shown/names/distinct_names.ts'
import { entryOf } from '../table/testing.ts'
import { comparedGroups, placedRuns } from './compared.ts'
import { FIRST_VIEW, tableRows } from './table.ts'

const UNNAMED = { name: '' }
/** More than a name says. */
const WIDE = { train_batch_size: 8, n: 16, temperature: 0.75, top_p: 0.95 }
const withRollout = (entry: ReturnType<typeof entryOf>, changed: Partial<typeof WIDE>) => {
  const { document } = entry.header
  const own = { ...document, rollout: { ...document.rollout, ...changed } }
  return { ...entry, header: { ...entry.header, document: own, experiment: own } }
}
const withSeed = (entry: ReturnType<typeof entryOf>, seed: number) => {
  const own = { ...entry.header.document, seed }
  return { ...entry, header: { ...entry.header, document: own, experiment: own } }
}
const withPrompts = (entry: ReturnType<typeof entryOf>) =>
  withRollout(entry, { train_batch_size: 8 })
const RUNS = [
  withPrompts(entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED)),
  withPrompts(entryOf('d', { seed: 2, lr: 0.01 }, { name: 'the fast one' })),
]

const shown = (list: readonly ReturnType<typeof entryOf>[]) => {
  const names = distinctNames(list)
  return list.map(({ id }) => names.get(id)?.name)
}
const METHOD = 'BuPO (GRPO), layer 2 first'

test('a run has one name, which gets its seed once another seed of it is there', () => {
  const [first, second] = RUNS
  const name = `${METHOD}, 8 prompts per step`
  expect(shown([first])).toEqual([name])
  expect(shown([first, second])).toEqual([`${name}, seed 1`, `${name}, seed 2`])
  expect(tableRows(RUNS, FIRST_VIEW).map((row) => row.name)).toEqual(shown(RUNS).toReversed())
  // Another setting adds nothing to it; a seed that is no preset’s is always said.
  expect(shown([first, RUNS[2]])).toEqual([name, `${METHOD}, lr 0.01, 8 prompts per step`])
  expect(shown([second])).toEqual([`${name}, seed 2`])
  expect(shown(RUNS)[3]).toBe('the fast one')
})

test('whatever else a list holds, a name begins with that which the run has alone', () => {
  const list = [
    ...RUNS,
    withRollout(entryOf('e', { lr: 0.01 }, UNNAMED), WIDE),
    withRollout(entryOf('f', { lr: 0.01 }, UNNAMED), { ...WIDE, top_p: 0.9 }),
    withSeed(entryOf('g', { lr: 0.01 }, UNNAMED), 7),
    entryOf('h', { lr: 0.01 }, UNNAMED),
    entryOf('i', { lr: 0.01 }, UNNAMED),
  ]
  const names = shown(list)
  for (const [i, run] of list.entries())
    expect(names[i]?.startsWith(runName(run).seedless), names[i]).toBe(true)
  expect(new Set(names).size).toBe(list.length)
  // A name says two differences; of two that are alike in these each says what is its own.
  expect(names.slice(4, 6)).toEqual(
    ['top p 0.95', 'top p 0.9'].map(
      (own) => `${METHOD}, lr 0.01, 8 prompts per step, 16 responses per prompt, ${own}`,
    ),
  )
  expect(names.at(-1)).toBe(`${METHOD}, lr 0.01, seed 1 #2`)
  expect(names.join()).not.toContain('more')
})

test('runs of two presets that are called alike say of which preset they are', () => {
  const tiny = entryOf('a', {}, UNNAMED)
  const ofPreset = (id: string, preset_id: string) => {
    const document = presetOf(preset_id)?.experiment ?? tiny.header.document
    const phases = document.phases.map((phase) =>
      phase.kind === 'rl' ? { ...phase, adv_estimator: 'grpo' as const } : phase,
    )
    const own = { ...document, phases } as typeof document
    return {
      ...tiny,
      id,
      header: { ...tiny.header, id, preset_id, document: own, experiment: own },
    }
  }
  expect(shown([ofPreset('a', 'tiny'), ofPreset('b', 'first-steps')])).toEqual([
    `${METHOD}, from “Tiny: sort three digits”`,
    `${METHOD}, from “First run: an inner layer, then all”`,
  ])
})

test('runs of one given name are told apart by their settings, and those by nothing are numbered', () => {
  const alike = [0.002, 0.01].map((lr, i) => entryOf(`g${i}`, { lr }, { name: 'Mine' }))
  const yours = entryOf('h', { lr: 0.1 }, { name: 'Yours' })
  expect(shown([...alike, yours])).toEqual(['Mine, lr 0.002', 'Mine, lr 0.01', 'Yours'])
  const again = ['x', 'y', 'z'].map((id) => entryOf(id, {}, { name: 'Mine' }))
  expect(shown(again.toReversed())).toEqual(['Mine #3', 'Mine #2', 'Mine'])
  // A number that is part of a name is no other run's.
  const numbered = entryOf('y', {}, { name: 'Mine #2' })
  expect(shown([again[0], numbered, again[2]])).toEqual(['Mine', 'Mine #2', 'Mine #3'])
})

test('the line of seeds that all have names of their own has no one’s name', () => {
  const named = (id: string, seed: number) => entryOf(id, { seed }, { name: id })
  const seedless = (...list: ReturnType<typeof named>[]) =>
    list.map(({ id }) => distinctNames(list).get(id)?.seedless)
  expect(seedless(named('s1', 1), named('s2', 2))).toEqual(['s1 and 1 more', 's1 and 1 more'])
  // A run that nobody named says what its line is.
  const [first] = seedless(named('s1', 1), entryOf('b', { seed: 2 }, { name: '' }))
  expect(first).not.toContain('s1')
  expect(seedless(named('s1', 1))).toEqual(['s1'])
})

test('runs of studies in the table change no name of the others', () => {
  const [first] = RUNS
  const ofStudy = (id: string, study: string) => {
    const { header, ...run } = RUNS[0]
    const arm = { id: study, name: study, arm: runName(first).name, seconds: 1 }
    return { ...run, id, header: { ...header, id, study: arm } } as typeof first
  }
  const names = shown([ofStudy('s', 'One'), ofStudy('t', 'Two'), first])
  expect(names[2]).toBe(runName(first).name)
  expect(names.slice(0, 2)).toEqual(
    ['One', 'Two'].map((study) => `${runName(first).name}, study “${study}”, seed 1`),
  )
})

test('a line that an arm of a study shares with another run says what the arm is called', () => {
  const [first, , third] = RUNS
  const arms = [first, third].map((run, i) => {
    const study = { id: 's', name: 'Rates', arm: `lr ${['0.001', '0.01'][i]}`, seconds: 1 }
    return { ...run, id: `s${i}`, header: { ...run.header, id: `s${i}`, study } }
  })
  const linesOf = (list: readonly (typeof first)[]) => {
    const names = distinctNames(list)
    return list.map(({ id }) => names.get(id)?.seedless)
  }
  const name = `${METHOD}, 8 prompts per step`
  expect(linesOf([first, ...arms])).toEqual([`${name}, lr 0.001`, `${name}, lr 0.001`, 'lr 0.01'])
  // A word that is said already is not said again.
  const fast = `${METHOD}, lr 0.01, 8 prompts per step`
  expect(linesOf([third, arms[1]])).toEqual([fast, fast])
})

test('a line of several seeds is called without them', () => {
  const ticked = RUNS.map(({ id }) => id)
  const selection = { ticked, band: 'range', isBehind: false, view: FIRST_VIEW } as const
  const groups = comparedGroups(RUNS, selection)
  const lines = ['', ', lr 0.01'].map((lr) => `${METHOD}${lr}, 8 prompts per step`)
  expect(groups.map(({ label }) => label)).toEqual(lines)
  expect(groups[0].entries.map(({ labels }) => labels.name)).toEqual(shown(RUNS).slice(0, 2))
  // Where every line is one run, it is called as in the table.
  const [first, , third] = RUNS
  const two = [first, withSeed(third, 7)]
  const lone = comparedGroups(two, { ...selection, ticked: ['a', 'c'] })
  expect(lone.map(({ label }) => label)).toEqual(shown(two))
})

test('a seed that was trained again has a place, and runs of more settings than lines have none', () => {
  const placed = (runs: readonly ReturnType<typeof entryOf>[]) => {
    const ticked = runs.map(({ id }) => id)
    return placedRuns(comparedGroups(runs, { ticked, band: 'range', view: FIRST_VIEW }))
  }
  expect(placed([1, 2, 1].map((seed, i) => entryOf(`r${i}`, { seed })))).toBe(3)
  const many = Array.from({ length: 9 }, (_, i) => entryOf(`m${i}`, { lr: (i + 1) / 1000 }))
  expect(placed(many)).toBe(8)
})

test('beside a name no word of it is said again', () => {
  const name = 'BuPO, layer 2 first, seed 1'
  expect(unsaidWords('Two-skills addition, BuPO', name)).toBe('Two-skills addition')
  expect(unsaidWords('Tiny: GRPO, as many rollouts', 'GRPO, seed 1')).toBe('Tiny, as many rollouts')
  expect(unsaidWords('Tiny: sort three digits', name)).toBe('Tiny: sort three digits')
  expect(unsaidWords('BuPO', name)).toBe('')
})

test('at the ends of lines a name leaves out what all of them say', () => {
  const said = 'BuPO (REINFORCE++), layer 2 first'
  expect(shortNames([said, `${said}, lr 0.005`, `${said}, lr 5e-4, seed 2`])).toEqual([
    'BuPO (REINFORCE++)',
    'lr 0.005',
    'lr 5e-4, seed 2',
  ])
  expect(shortNames(['a', 'a'])).toEqual(['a', 'a'])
  expect(shortNames([said])).toEqual([said])
})
