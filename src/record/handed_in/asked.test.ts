import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink } from '../../document/links/link.ts'
import { whyNotAsked } from './asked.ts'

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
  expect(whyNotAsked(ASKED, link)).toMatch(/is 1 in place of 3/)
})

test('a lesson’s Try it is not ticked by a run with other settings, and the difference is named', () => {
  expect(whyNotAsked(but('phases.1.steps', 60), LINK)).toContain(
    'Steps of phase 2 is 60 in place of 20',
  )
  expect(whyNotAsked(but('actor.optim.lr', 0.002), LINK)).toContain('is 0.002 in place of 0.001')
  const many = `v=1&p=tiny&actor.optim.lr=0.002&rollout.temperature=0.9&algorithm.gamma=0.9&data.train_batch_size=16`
  expect(whyNotAsked(decodeLink(many).experiment, LINK)).toMatch(/more\. Press/)
  const other = decodeLink('v=1&p=brackets').experiment
  expect(whyNotAsked(other, LINK)).toContain(`its task is ${other.task.id}`)
})

test('a run that was steered away does not count; the tuner steers nothing away', () => {
  const steered = (entry: Experiment['steering'][number]) =>
    whyNotAsked({ ...ASKED, steering: [entry] }, LINK)
  expect(steered({ step: 4, kind: 'set', path: 'actor.optim.lr', value: 0.01 })).toContain(
    'it was changed after step 4 (lr 0.01)',
  )
  expect(steered({ step: 4, kind: 'next_phase' })).toContain('next phase')
  expect(steered({ step: 4, kind: 'kernels', kernels: 'default' })).toBeUndefined()
  expect(steered({ step: 4, kind: 'set', path: 'validation.test_freq', value: 3 })).toBeUndefined()
})
