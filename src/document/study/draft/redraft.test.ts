// A study in the form: every one that the form can hold comes out of it with the same runs, and
// what the form does not say stays.
import { expect, test } from 'vitest'
import gallery from '../../../page/study/gallery.json' with { type: 'json' }
import { expandStudy } from '../arms.ts'
import { changesOf } from '../changes.ts'
import { fingerprintOf } from '../fingerprint.ts'
import { plannedRuns } from '../queue.ts'
import type { Study } from '../study.ts'
import { decodeStudy } from '../study_link.ts'
import { DOCUMENT, studyOf } from '../testing.ts'
import { type Draft, readDraft } from './draft.ts'
import { redraft } from './redraft.ts'

/** The study as the form makes it again, with a change. */
function again(study: Study, change: Partial<Draft> = {}): Study {
  const found = redraft(study)
  if (!found) throw new Error('no form holds it')
  const { draft, arms, base } = found
  const made = readDraft({ ...draft, ...change }, arms, base, study)
  if (!made.ok) throw new Error([...made.problems].join('; '))
  return made.study
}

const runs = (study: Study): string[] => {
  const expanded = expandStudy(study)
  if (!expanded.ok) throw new Error(expanded.problems.join('; '))
  return plannedRuns(study, expanded.arms).map(({ arm, experiment }) =>
    [arm.name, fingerprintOf(experiment)].join(' '),
  )
}

const studies = gallery.flatMap(({ id, study }) => {
  const read = decodeStudy(study)
  return read.ok ? [{ id, study: read.study }] : []
})

test.each(studies)('$id has the same runs, or says that no form holds it', ({ study }) => {
  const ownGrids = study.arms.some(({ grid }) => grid !== undefined)
  const isHeld = redraft(study) !== undefined
  expect(isHeld || (ownGrids && study.search !== undefined)).toBe(true)
  if (!isHeld) return
  const made = again(study)
  expect(runs(made)).toEqual(runs(study))
  const { measure, also, seeds, question, name, power, inside } = study
  expect(made).toMatchObject({ measure, seeds, question, name })
  // Nothing changed, so nothing is exploratory.
  expect(changesOf(study, made, 1)).toEqual([])
  expect([made.also, made.power, made.inside]).toEqual([also, power, inside])
})

test('fields, seeds, question and measure can be changed; further seeds count on', () => {
  const study = studyOf({ ...DOCUMENT, seeds: [11, 12], baseline: 'fast', power: 'Much.' })
  const made = again(study, {
    question: 'And now?',
    seeds: 3,
    at: 'last',
    axes: [{ path: 'rollout.temperature', values: '0.8, 1' }],
  })
  expect(made.seeds).toEqual([11, 12, 13])
  expect([made.name, made.question, made.baseline]).toEqual(['Two rates', 'And now?', 'fast'])
  expect([made.measure.at, made.measure.metric]).toEqual(['last', 'acc/greedy'])
  expect(made.power).toBeUndefined()
  expect(new Set(runs(made)).size).toBe(12)
})

test('another base is that of all arms', () => {
  const study = studyOf()
  const found = redraft(study)
  if (!found) throw new Error('no form')
  const base = { ...found.base, rollout: { ...found.base.rollout, temperature: 0.7 } }
  const values = {
    ...found.draft,
    way: 'values',
    axes: [{ path: 'actor.optim.lr', values: '0.001, 0.003' }],
  } as const
  const made = readDraft(values, [], base, study)
  if (!made.ok) throw new Error([...made.problems].join('; '))
  expect(made.arms.map(({ experiment }) => experiment.rollout.temperature)).toEqual([0.7, 0.7])
  expect(made.arms.map(({ experiment }) => experiment.actor.optim.lr)).toEqual([0.001, 0.003])
})
