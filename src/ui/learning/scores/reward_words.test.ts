import { expect, test } from 'vitest'
import { PRESETS, presetOf } from '../../../document/presets/presets.ts'
import { scoreNote } from './reward_words.ts'

const { experiment } = PRESETS[0]
const own = {
  ...experiment,
  reward: { ...experiment.reward, parts: [{ id: 'length', weight: 1 }] },
}

test('a reward of one’s own, and a log’s, are not called a share of correct answers', () => {
  expect(scoreNote(experiment, false)).toMatch(/^Share of correct answers/)
  // The held-out lines are `acc`, which a reward for length does not change.
  expect(scoreNote(own, false)).toMatch(
    /^Held-out: the mean reward of \d+ problems that are never trained on/,
  )
  for (const note of [scoreNote(own, false), scoreNote(experiment, true), scoreNote(own, true)])
    expect(note).not.toMatch(/share of correct/i)
})

test('of a story that shall end happily the note says both shares, and of how many stories', () => {
  const preset = presetOf('story-ends')
  if (!preset) throw new Error('no preset')
  expect(scoreNote(preset.experiment, false)).toMatch(
    /^Held-out: of 15 stories that are never trained on, how many have what is rewarded/,
  )
})
