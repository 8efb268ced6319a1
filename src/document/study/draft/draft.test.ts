// The form of a study: what it makes, and what it says next to which field.
import { expect, test } from 'vitest'
import { parseExperiment } from '../../experiment/experiment.ts'
import { presetOf } from '../../presets/presets.ts'
import { expandStudy } from '../arms.ts'
import { planStudy } from '../search.ts'
import { decodeStudy, encodeStudy } from '../study_link.ts'
import { DOCUMENT, madeUpResult } from '../testing.ts'
import { type Draft, EMPTY_DRAFT, readDraft } from './draft.ts'

const parsed = parseExperiment(DOCUMENT.base)
if (!parsed.ok) throw new Error('the base of the tests is no experiment')
const present = parsed.experiment
const rate = { path: 'actor.optim.lr', values: '1e-4..1e-2 log 5' }
const temperature = { path: 'rollout.temperature', values: '0.8, 1' }

const problems = (draft: Partial<Draft>, chosen = 0) => {
  const experiments = Array.from({ length: chosen }, (_, i) => ({
    name: `${i}`,
    experiment: present,
  }))
  const read = readDraft({ ...EMPTY_DRAFT, ...draft }, experiments, present)
  return read.ok ? {} : Object.fromEntries(read.problems)
}

test('two fields with several values are a grid, and the form says how many runs that is', () => {
  const read = readDraft({ ...EMPTY_DRAFT, axes: [rate, temperature] }, [], present)
  expect(read).toMatchObject({ ok: true, runs: 5 * 2 * 5 })
})

test('a study has a question: the person’s own, else that of its arms', () => {
  const asked = (question: string | null) => {
    const read = readDraft({ ...EMPTY_DRAFT, question, axes: [temperature] }, [], present)
    return read.ok ? [read.study.name, read.study.question] : undefined
  }
  const proposed = 'What gives more right answers: temperature 0.8 or 1?'
  expect(asked(null)).toEqual([proposed, proposed])
  expect(asked(' ')).toEqual([proposed, proposed])
  expect(asked('Is it hot?')).toEqual(['Is it hot?', 'Is it hot?'])
})

test('a value that stands twice is said beside its field, however it is written', () => {
  const axes = [rate, { path: 'rollout.temperature', values: '1, 0.8, 1.0' }]
  expect(problems({ axes })).toEqual({ 'axis.1': ['1 stands twice: take one of them out.'] })
})

test('a study has 1 to 64 seeds, and none is put in place of what was typed', () => {
  for (const seeds of [0, -3, 65, Number.NaN])
    expect(problems({ axes: [rate], seeds })).toEqual({ seeds: ['Expected 1 to 64 seeds.'] })
  expect(problems({ axes: [rate], seeds: 1 })).toEqual({})
  const whole = 'Expected a whole number, got 2.5.'
  expect(problems({ axes: [rate], seeds: 2.5, settings: 4.5 })).toEqual({ seeds: [whole] })
  expect(problems({ axes: [rate], kind: 'random', settings: 2.5 }).settings).toContain(whole)
})

test('a value that is no number is said to be none', () => {
  for (const values of ['abc', '0.1, abc'])
    expect(problems({ axes: [{ path: 'actor.optim.lr', values }] })).toEqual({
      'axis.0': [expect.stringMatching(/^Expected a number .*, got 'abc'\.$/)],
    })
})

test('a name that no field has is a mistake, also where its values are empty', () => {
  const axes = [rate, { path: '', values: '', unknown: 'temperatura' }]
  expect(problems({ axes })).toEqual({ 'field.1': ['No field is called “temperatura”.'] })
})

test('each mistake is said at its field', () => {
  expect(problems({})).toEqual({ 'axis.0': [expect.stringContaining('Choose a field')] })
  const arms = { way: 'arms' } as const
  expect(problems(arms)).toEqual({ arms: [expect.stringContaining('Add two settings')] })
  expect(problems(arms, 1)).toHaveProperty('arms')
  // The two are the same settings.
  expect(problems(arms, 2)).toEqual({ arms: [expect.stringContaining('“0” and “1” are the same')] })
  // Arms that were added before the other way was chosen do not count.
  expect(problems({}, 2)).toHaveProperty(['axis.0'])
  expect(problems({ ...arms, axes: [rate] })).toEqual({})
  const axis = (path: string, values: string) =>
    problems({ axes: [rate, { path, values }] })['axis.1']
  expect(axis('', '1, 2')).toEqual(['Choose the field that has these values.'])
  expect(axis('rollout.n', '')).toEqual([expect.stringContaining('Write its values')])
  expect(axis('rollout.n', '4')).toEqual([expect.stringContaining('One value')])
  expect(axis('rollout.n', 'a..b 3')).toEqual([expect.stringContaining('two numbers')])
  expect(axis('rollout.n', '0..8 log 3')).toEqual([expect.stringContaining('above 0')])
  expect(axis('actor.optim.lr', '1, 2')).toEqual(['This field is above already.'])
  // Arms that cannot run: once, at the field of their value.
  expect(axis('rollout.n', '0, 4')).toEqual(['Expected a whole number from 1 to 64, got 0.'])
  // The words of a choice stand beside what its menu says.
  const schedule = "Expected 'constant' (constant) or 'cosine' (cosine decay), got 'sine'."
  expect(axis('actor.optim.lr_scheduler_type', 'sine, cosine')).toEqual([schedule])
  const many = { path: 'rollout.n', values: '1..64 64' }
  expect(problems({ axes: [rate, many] })).toEqual({
    'axis.0': [expect.stringContaining('the grid has 320 arms')],
  })
})

test('a search is checked, counted as it is trained, and needs a field', () => {
  const search = { kind: 'halving', seeds: 6, axes: [rate, temperature] } as const
  expect(problems({ ...search, way: 'arms', axes: EMPTY_DRAFT.axes }, 2)).toHaveProperty(['axis.0'])
  expect(problems({ ...search, settings: 1 })).toHaveProperty('settings')
  expect(problems({ ...search, settings: 4, finalists: 4 })).toHaveProperty('finalists')
  expect(problems({ ...search, choosing: 6 })).toHaveProperty('choosing')
  const read = readDraft({ ...EMPTY_DRAFT, ...search, choosing: 3 }, [], present)
  if (!read.ok) throw new Error('it was refused')
  expect(read.study.search).toMatchObject({ kind: 'halving', arms: 8, finalists: 2, choosing: 3 })
  const expanded = expandStudy(read.study)
  if (!expanded.ok) throw new Error('it cannot be trained')
  const known: ReturnType<typeof madeUpResult>[] = []
  for (;;) {
    const { runs } = planStudy(read.study, expanded.arms, known)
    if (runs.length === 0) break
    for (const run of runs) known.push(madeUpResult(read.study, run, 0.5 + known.length / 1000))
  }
  expect(read.runs).toBe(known.length)
})

test('presets of other phases are arms of one study, and its link opens it', () => {
  const ids = ['tiny', 'tiny-grpo', 'tiny-ppo', 'rlhf-tiny']
  const arms = ids.map((id) => ({ name: id, experiment: presetOf(id)?.experiment ?? present }))
  const axes = [{ path: '', values: '' }]
  const read = readDraft({ ...EMPTY_DRAFT, way: 'arms', axes }, arms, present)
  if (!read.ok) throw new Error([...read.problems].join('; '))
  expect(read.arms.map(({ name }) => name)).toEqual(ids)
  expect(decodeStudy(encodeStudy(read.study))).toEqual({ ok: true, study: read.study })
})
