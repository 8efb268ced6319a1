import { expect, test } from 'vitest'
import { parsed } from '../testing.ts'
import { changesWords, fieldChanges } from './field_changes.ts'

const LR = 'actor.optim.lr'
const DOCUMENT = {
  actor: { optim: { lr: 0.001 } },
  phases: [
    { kind: 'sft', steps: 66 },
    { kind: 'rl', steps: 100 },
  ],
}
const SWITCHES = [
  { step: 0, phase: 0 },
  { step: 66, phase: 1 },
]
const set = (step: number, value: number, path = LR) => ({ step, kind: 'set', path, value })

/** The words for each path, of a run of these entries that is over, or of one that has not
 * begun. */
function wordsOf(steering: readonly object[], begun = true, document: object = DOCUMENT) {
  const changes = fieldChanges({
    document: parsed({ ...document, steering }),
    phase_switches: begun ? SWITCHES : [],
    ...(begun ? { step: 166, phase: 1, phase_step: 100 } : { step: 0, phase: 0, phase_step: 0 }),
  })
  return Object.fromEntries(
    [...changes].map(([path, values]) => [path, changesWords(values, String)]),
  )
}

test('a field that was changed during a run has all its values', () => {
  expect(wordsOf([set(78, 0.0015)])).toEqual({ [LR]: '0.001, then 0.0015 after step 78' })
  expect(wordsOf([set(78, 0.0015), set(90, 0.002)])).toEqual({
    [LR]: '0.001, then 0.0015 after step 78, then 0.002 after step 90',
  })
  expect(wordsOf([])).toEqual({})
})

test('so has a plan, as the receiver of a link has it', () => {
  expect(wordsOf([set(78, 0.0015)], false)).toEqual({ [LR]: '0.001, then 0.0015 after step 78' })
})

test('of several values after one step the last one counts, and a value that came back at once was never there', () => {
  expect(wordsOf([set(78, 0.0015), set(78, 0.002)])).toEqual({
    [LR]: '0.001, then 0.002 after step 78',
  })
  expect(wordsOf([set(78, 0.0015), set(78, 0.001)])).toEqual({})
  expect(wordsOf([set(78, 0.001)])).toEqual({})
})

test('what no step has used was no value of the run', () => {
  const path = 'phases.1.actor.optim.lr'
  expect(wordsOf([set(0, 0.0015)])).toEqual({})
  expect(wordsOf([set(60, 0.002, path)])).toEqual({})
  expect(wordsOf([set(66, 0.002, path)])).toEqual({})
  expect(wordsOf([set(67, 0.002, path)])).toEqual({ [path]: '0.001, then 0.002 after step 67' })
  expect(wordsOf([set(66, 0.002, path)], false)).toEqual({})
})

test('other things that were done in between are followed', () => {
  const phase = { kind: 'rl', steps: 20, name: 'inserted' }
  const changes = fieldChanges({
    document: parsed({
      ...DOCUMENT,
      steering: [
        { step: 50, kind: 'insert_phase', phase },
        set(60, 0.002, 'phases.1.actor.optim.lr'),
      ],
    }),
    phase_switches: [
      { step: 0, phase: 0 },
      { step: 50, phase: 1 },
      { step: 70, phase: 2 },
    ],
    step: 170,
    phase: 2,
    phase_step: 100,
  })
  expect([...changes.keys()]).toEqual(['phases.1.actor.optim.lr'])
})
