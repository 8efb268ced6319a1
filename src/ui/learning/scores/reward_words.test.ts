import { expect, test } from 'vitest'
import { PRESETS, presetOf } from '../../../document/presets/presets.ts'
import { logNote, scoreNote } from './reward_words.ts'

const { experiment } = PRESETS[0]
const own = {
  ...experiment,
  reward: { ...experiment.reward, parts: [{ id: 'length', weight: 1 }] },
}

test('a reward of one’s own is not called a share of correct answers', () => {
  expect(scoreNote(experiment)).toMatch(/^Share of correct answers/)
  // The held-out lines are `acc`, which a reward for length does not change.
  expect(scoreNote(own)).toMatch(
    /^Held-out: the mean reward of \d+ problems that are never trained on/,
  )
  expect(scoreNote(own)).not.toMatch(/share of correct/i)
})

test('of a story that shall end happily the note says both shares, and of how many stories', () => {
  const preset = presetOf('story-ends')
  if (!preset) throw new Error('no preset')
  expect(scoreNote(preset.experiment)).toMatch(
    /^Held-out: of 15 stories that are never trained on, how many have what is rewarded/,
  )
})

test('of a log the note says what the log calls the lines', () => {
  const log = { kind: 'trl', file: 'a.json', remarks: [], names: { 'critic/score/mean': 'reward' } }
  expect(logNote(log, ['critic/score/mean', 'val-core/a/acc/mean@1'])).toBe(
    'In the log: reward; val-core/a/acc/mean@1',
  )
  expect(logNote(log, ['a', 'b', 'c', 'd', 'e', 'f'])).toBe('In the log: a; b; c; d; and 2 more')
})
