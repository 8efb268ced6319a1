import { expect, test } from 'vitest'
import { PRESETS } from '../../document/presets/presets.ts'
import { scoreNote } from './reward_words.ts'

const { task } = PRESETS[0].experiment

test('a reward of one’s own, and a log’s, are not called a share of correct answers', () => {
  const note = (isImported: boolean, isOwn: boolean) => scoreNote(task, { isImported, isOwn })
  expect(note(false, false)).toMatch(/^Share of correct answers/)
  // The held-out lines are `acc`, which a reward for happy ends does not change.
  expect(note(false, true)).toMatch(
    /^Mean of this experiment’s reward on training prompts; share of/,
  )
  for (const own of [note(false, true), note(true, false), note(true, true)])
    expect(own).not.toMatch(/share of correct/i)
})
