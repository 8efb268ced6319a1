// A reward in documents and links: what its form allows, and what is refused.
import { expect, test } from 'vitest'
import { parseExperiment } from '../experiment/experiment.ts'
import { decodeLink, encodeLink } from './link.ts'

const code = `sha256-${'a'.repeat(64)}`
const parts = [
  { id: 'regex', weight: 0.5, pattern: '^[0-9]+ & more$' },
  { id: 'program', weight: -1, code, name: 'meine Regel.py' },
]

test('a link carries parts and their settings', () => {
  const parsed = parseExperiment({ reward: { parts, timeout_ms: 50 } })
  if (!parsed.ok) throw new Error(parsed.issues[0].message)
  const link = encodeLink(parsed.experiment)
  const { experiment, notices } = decodeLink(link)
  expect(experiment.reward).toEqual({ parts, timeout_ms: 50, batch_timeout_ms: 20_000 })
  expect(notices).toEqual([])
})

test('without parts a link says nothing of them', () => {
  const parsed = parseExperiment({})
  if (!parsed.ok) throw new Error(parsed.issues[0].message)
  expect(encodeLink(parsed.experiment)).not.toContain('reward')
  expect(parsed.experiment.reward.parts).toEqual([])
})

test.for([
  [[{ id: 'Exact match' }], /expected the name of a reward/],
  [[{ id: 'length', weight: 1000 }], /expected a weight from -100 to 100, got 1000/],
  [[{ id: 'length', weight: null }], /expected a weight/],
  [[{ id: 'length', longest: { deep: 1 } }], /expected settings that are numbers/],
  [[{ id: 'program', code: 'sha256-1', name: 'a.py' }], /expected a program with code/],
  [[{ id: 'program', code }], /expected a program with code/],
  [new Array(13).fill({ id: 'length' }), /expected at most 12 parts/],
  ['exact_match', /expected a list/],
] as const)('%o is refused', ([given, message]) => {
  const parsed = parseExperiment({ reward: { parts: given } })
  if (parsed.ok) throw new Error('it was read')
  expect(parsed.issues[0].path).toMatch(/^reward\.parts/)
  expect(parsed.issues[0].message).toMatch(message)
  const { experiment, notices } = decodeLink(
    `v=1&reward.parts=${encodeURIComponent(JSON.stringify(given))}`,
  )
  expect(experiment.reward.parts).toEqual([])
  expect(notices).toHaveLength(1)
})

test('text that is no JSON is a notice', () => {
  expect(decodeLink('v=1&reward.parts=%5B').notices).toHaveLength(1)
})
