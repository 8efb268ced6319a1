// The question that a study is given by what differs between its arms.
import { expect, test } from 'vitest'
import { parseExperiment, withField } from '../../experiment/experiment.ts'
import { DOCUMENT } from '../testing.ts'
import { EMPTY_DRAFT } from './draft.ts'
import { proposedQuestion } from './question.ts'

const parsed = parseExperiment(DOCUMENT.base)
if (!parsed.ok) throw new Error('the base of the tests is no experiment')
const present = parsed.experiment
const asked = (axes: readonly (readonly [path: string, values: string])[], metric = 'acc/greedy') =>
  proposedQuestion({ axes: axes.map(([path, values]) => ({ path, values })), metric }, [], present)

function armWith(path: string, value: number | boolean, from = present) {
  const made = withField(from, path, value)
  if (!made.ok) throw new Error(made.message)
  return made.experiment
}

test('values of a field are asked about by the name of the setting', () => {
  expect(asked([['actor.optim.lr', '0.001, 0.0003']])).toBe(
    'What gives more right answers: learning rate 0.001 or 0.0003?',
  )
  expect(asked([['rollout.n', '2 4 8']], 'critic/score/mean')).toBe(
    'What gives more reward in training: responses per prompt 2, 4 or 8?',
  )
  expect(asked([['rollout.n', '2 3 4 5 6 7']])).toContain(' 2, 3, 4 or 3 others?')
  expect(asked([['actor.optim.lr', '1e-4..1e-2 log 5']])).toContain('rate from 0.0001 to 0.01?')
  expect(
    asked([
      ['actor.use_kl_loss', 'true false'],
      ['rollout.temperature', '0.8, 1'],
    ]),
  ).toMatch(/: .+ on or off, and temperature 0.8 or 1\?$/)
  // Nothing is chosen yet.
  expect(asked([['', '']])).toBe('What gives more right answers?')
})

test('arms are asked about by the one setting that differs, or by their names', () => {
  const ask = (...all: (typeof present)[]) =>
    proposedQuestion(
      EMPTY_DRAFT,
      all.map((experiment, i) => ({ name: `arm ${i}`, experiment })),
      present,
    )
  expect(ask(present, armWith('actor.optim.lr', 0.01))).toBe(
    'What gives more right answers: learning rate 0.0001 or 0.01?',
  )
  const both = armWith('rollout.n', 8, armWith('actor.optim.lr', 0.01))
  expect(ask(present, both)).toBe('What gives more right answers: “arm 0” or “arm 1”?')
})
