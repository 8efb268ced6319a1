import { expect, test } from 'vitest'
import { followExperiment, parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink, encodeLink } from '../../document/links/link.ts'
import { withVerdicts } from './taught.ts'

const parsed = (document: unknown): Experiment => {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}
const SFT = { kind: 'sft', steps: 4 }
const ASKS = { kind: 'reward_model', steps: 3, pairs: { source: 'human', count: 4, min_pairs: 2 } }
const RL = { kind: 'rl', steps: 2, reward_model: { enable: true } }
const phases = [SFT, ASKS, RL]

/** Verdicts of every phase at the end of the run, as far as its document says. */
const saidAtEnd = (experiment: Experiment) => {
  const { experiments, issue } = followExperiment(experiment)
  expect(issue).toBeUndefined()
  return experiments
    .at(-1)
    ?.phases.map((phase) => (phase.kind === 'reward_model' ? phase.pairs.verdicts : ''))
}

test('verdicts stand in the phases where these are the document’s', () => {
  const plain = parsed({ phases })
  expect(withVerdicts(plain, [])).toBe(plain)
  expect(withVerdicts(plain, [{ index: 1, said: '', step: 4 }])).toBe(plain)
  const taught = withVerdicts(plain, [{ index: 1, said: 'ab', step: 4 }])
  expect(taught.steering).toEqual([])
  expect(saidAtEnd(taught)).toEqual(['', 'ab', ''])
  const steered = parsed({ phases, steering: [{ step: 2, kind: 'next_phase' }] })
  expect(withVerdicts(steered, [{ index: 1, said: 'ab', step: 2 }]).steering).toHaveLength(1)
})

test('where the list was changed, each phase gets what was said in it before it begins', () => {
  const [, asks] = parsed({ phases }).phases
  const document = parsed({
    phases: [ASKS, SFT, RL],
    steering: [
      // Phases: asks, asks (inserted), sft, rl; then the inserted one again.
      { step: 1, kind: 'insert_phase', phase: asks },
      { step: 3, kind: 'repeat_phase' },
      { step: 4, kind: 'set', path: 'actor.optim.lr', value: 0.002 },
      { step: 5, kind: 'set', path: 'actor.optim.lr', value: 0.003 },
    ],
  })
  const said = [
    { index: 0, said: 'aa', step: 0 },
    { index: 1, said: 'bb', step: 1 },
    { index: 2, said: '', step: 4 },
  ]
  const taught = withVerdicts(document, said)
  expect(taught.phases[0]).toMatchObject({ pairs: { verdicts: 'aa' } })
  expect(taught.steering.map(({ step, kind }) => `${step} ${kind}`)).toEqual([
    '1 insert_phase',
    '1 set',
    '3 repeat_phase',
    '4 set',
    '4 set',
    '5 set',
  ])
  // The repeated phase asks again, as it did.
  expect(saidAtEnd(taught)).toEqual(['aa', 'bb', null, '', ''])
  expect(withVerdicts(taught, said)).toEqual(taught)
  expect(decodeLink(encodeLink(taught))).toMatchObject({ experiment: taught, notices: [] })
})
