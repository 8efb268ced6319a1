import { expect, test } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import type { Observation } from '../../../host/protocol/observation.ts'
import { labStore } from '../../../page/state/store.ts'
import { Kept } from '../../../record/run/kept.ts'
import { lensFrom, plainLens } from '../../tokens/lens/testing.ts'
import { FLOW, observationOf } from '../testing.ts'
import { pressedSays, QUESTIONS } from './answers.ts'

const keptOf = (...observations: readonly (readonly [number, Observation])[]) => {
  const kept = new Kept<Observation>(1e6)
  for (const [step, observation] of observations) kept.push(step, observation, 100)
  return kept
}
const answers = (kept: Kept<Observation>, step?: number) =>
  Object.values(QUESTIONS).map((answer) => answer(kept, step, 2))

test('each question is answered by the newest moment that has what it needs', () => {
  const first = observationOf(FLOW)
  const second = observationOf({
    ...FLOW,
    ent_layer_raw: [3, 1, 1],
    ent_layer_norm: [1.5, 2, 0.5],
    dH_attn: [1, -0.2],
    dH_ffn: [-0.5, 0.1],
    dH_layer: [0.5, -0.1],
  })
  const [knows, does, changed, causes] = answers(keptOf([1, first], [5, second]))
  expect(knows).toContain('layer 2 decides most')
  expect(does).toContain('layer 1’s attention changes the entropy most')
  expect(changed).toContain('From step 1 to 5')
  expect(causes).toBeUndefined()
  expect(answers(keptOf([1, first], [5, second]), 1)[1]).toBeUndefined()
})

test('what a layer knows is said of the held-out answers that the lens measured', () => {
  const lens = lensFrom(plainLens('321>', '123', { skill: 1, layers: 3 }))
  const seen = observationOf(FLOW, { lenses: [lens, { ...lens, is_held_out: false }] })
  const [knows] = answers(keptOf([1, seen], [5, observationOf(FLOW)]))
  expect(knows).toContain('response tokens; layer 1 would name')
  expect(answers(keptOf([5, observationOf(FLOW)]))[0]).toContain('decides most')
})

test('the metrics of every step tell what changed, whatever was observed', () => {
  const series = new Map<string, Series>()
  for (const [layer, ends] of [
    [3.2, 3.2],
    [2, 0.8],
    [1.4, 1],
  ].entries())
    for (const [i, value] of ends.entries())
      appendRow(series, `layer/entropy/${layer}`, 1 + 44 * i, value)
  labStore.setState({ series })
  const looked = [
    keptOf(),
    keptOf([45, observationOf(FLOW)]),
    keptOf([20, observationOf(FLOW)], [45, observationOf(FLOW)]),
  ]
  for (const kept of looked)
    expect(answers(kept)[2]).toBe(
      'From step 1 to 45 the policy of layer 1 changed most: it fell from 2.000 to 0.800 nats.',
    )
  labStore.setState({ series: new Map() })
})

test('each answer names its step', () => {
  const kept = keptOf([
    4,
    observationOf({ ...FLOW, dH_ffn: [1, -1], dH_attn: [0, 0], dH_layer: [1, -1] }),
  ])
  for (const answer of answers(kept).slice(0, 3)) expect(answer).toContain('step 4')
})

test('what causes it is said where the parts were switched off', () => {
  const part = (where: 'attention' | 'feed_forward', mean: number) => ({
    layer: 1,
    where,
    reward: { mean, interval: 0.05 },
    entropies: [],
  })
  const parts = {
    problems: 64,
    untouched: { reward: 0.8, entropies: [1, 1] },
    parts: [part('attention', -0.5), part('feed_forward', -0.1)],
  }
  const kept = keptOf([5, { ...observationOf(), parts } as Observation])
  expect(QUESTIONS['What causes it?'](kept, undefined, 2)).toBe(
    'At step 5, beside whole layers, the attention of layer 1 is needed most: without it the held-out reward changes by −0.5 ± 0.05.',
  )
})

test('what a press on the button found is said, also where no part is felt', () => {
  const costs = { problems: 64, untouched: { reward: 0.8, entropies: [1, 1] } }
  const reward = { mean: -0.5, interval: 0.05 }
  const part = { layer: 1, where: 'attention', reward, entropies: [] } as const
  expect(pressedSays(undefined)).toBeUndefined()
  expect(pressedSays({ what: 'parts', step: 45, costs: { ...costs, parts: [part] } })).toMatch(
    /^At step 45, .* the attention of layer 1 is needed most/,
  )
  expect(pressedSays({ what: 'parts', step: 45, costs: { ...costs, parts: [] } })).toBe(
    'At step 45 no part costs anything that 64 held-out problems can show.',
  )
})

test('a run that was not looked at has no answers', () => {
  expect(answers(keptOf())).toEqual([undefined, undefined, undefined, undefined])
})
