import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink } from '../../document/links/link.ts'
import { otherThanAsked, whyNotAsked } from './asked.ts'

const LINK = 'v=1&p=tiny-grpo&phases.1.steps=20'
const { experiment: ASKED } = decodeLink(LINK)

/** The experiment that was asked for, but for one field. */
function but(path: string, value: unknown): Experiment {
  const set = withField(ASKED, path, value)
  if (!set.ok) throw new Error(set.message)
  return set.experiment
}

test('a lesson’s Try it is ticked by the run of its link, whatever its chance, its kernels and its measurements', () => {
  expect(whyNotAsked(ASKED, LINK)).toBeUndefined()
  for (const [path, value] of [
    ['seed', 7],
    ['name', 'mine'],
    ['kernels', 'default'],
    ['probe.internals', !ASKED.probe.internals],
    ['validation.test_freq', (ASKED.validation.test_freq ?? 0) + 5],
  ] as const)
    expect(whyNotAsked(but(path, value), LINK), path).toBeUndefined()
})

test('what a link asks for counts, even where another link leaves it open', () => {
  const link = `${LINK}&probe.internals=${!ASKED.probe.internals}&seed=3`
  expect(whyNotAsked(decodeLink(link).experiment, link)).toBeUndefined()
  expect(whyNotAsked(ASKED, link)).toMatch(/Seed: 1 in place of 3/)
})

test('a run that is nearly the one that was asked for is told what differs, as the form calls it', () => {
  expect(whyNotAsked(but('phases.1.steps', 60), LINK)).toContain(
    'Steps of phase 2: 60 in place of 20',
  )
  expect(whyNotAsked(but('actor.optim.lr', 0.002), LINK)).toBe(
    'The run on this page is not quite the lesson’s, so it does not count. Learning rate: 0.002 in place of 0.001. The button above trains it.',
  )
  const longer = whyNotAsked({ ...ASKED, phases: [...ASKED.phases, ASKED.phases[1]] }, LINK)
  expect(longer).toContain('Phases: 3 in place of 2')
})

test('of another experiment nothing is listed: no hashes, no ids', () => {
  const another =
    'The run on this page is another experiment, so it does not count. The button above trains it.'
  const many = `v=1&p=tiny&actor.optim.lr=0.002&rollout.temperature=0.9&algorithm.gamma=0.9&data.train_batch_size=16`
  expect(whyNotAsked(decodeLink(many).experiment, LINK)).toBe(another)
  // The same task, from shipped weights.
  expect(whyNotAsked(decodeLink('v=1&p=first-steps').experiment, LINK)).toBe(another)
  const other = decodeLink('v=1&p=brackets').experiment
  expect(whyNotAsked(other, LINK)).toBe(another)
  expect(otherThanAsked(other, LINK)).toBe('Task: Complete brackets in place of Sort digits')
  const source = `sha256-${'a'.repeat(64)}`
  expect(otherThanAsked({ ...ASKED, model: { ...ASKED.model, source } }, LINK)).toBe(
    'Begins with: not as it was asked for',
  )
})

test('a run that was steered away does not count; the tuner steers nothing away', () => {
  const steered = (entry: Experiment['steering'][number]) =>
    whyNotAsked({ ...ASKED, steering: [entry] }, LINK)
  expect(steered({ step: 4, kind: 'set', path: 'actor.optim.lr', value: 0.01 })).toContain(
    'Learning rate: 0.01 after step 4',
  )
  expect(steered({ step: 4, kind: 'next_phase' })).toContain('next phase')
  expect(steered({ step: 4, kind: 'kernels', kernels: 'default' })).toBeUndefined()
  expect(steered({ step: 4, kind: 'set', path: 'validation.test_freq', value: 3 })).toBeUndefined()
})
