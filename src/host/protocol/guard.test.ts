import { expect, test } from 'vitest'
import { BROKEN_STEPS, brokenHead, brokenStep, brokenWords, Guard } from './guard.ts'

const SOUND = { 'actor/pg_loss': 0.1, 'training/skipped_updates': 0 }
const BROKEN = { 'actor/pg_loss': Number.NaN, 'training/skipped_updates': 2 }

test('three broken steps in a row are too many; a sound one between them resets the count', () => {
  const guard = new Guard()
  expect(guard.see(0, BROKEN)).toBe(false)
  expect([1, 2].map((step) => guard.see(step, BROKEN))).toEqual([false, false])
  expect(guard.see(3, SOUND)).toBe(false)
  expect(guard.broken).toEqual([])
  expect([4, 5, 6].map((step) => guard.see(step, BROKEN))).toEqual([false, false, true])
  expect(guard.broken.map(({ step }) => step)).toEqual([4, 5, 6])
  expect(guard.broken).toHaveLength(BROKEN_STEPS)
  guard.reset()
  expect(guard.see(4, BROKEN)).toBe(false)
})

test('a loss that is not finite counts without a skipped update, other metrics do not', () => {
  expect(brokenStep(1, { ...SOUND, 'critic/vf_loss': Number.POSITIVE_INFINITY })).toEqual({
    step: 1,
    metrics: ['critic/vf_loss'],
    skipped: 0,
  })
  // A mean over nothing is no fault.
  expect(brokenStep(1, { ...SOUND, 'critic/vf_explained_var': Number.NaN })).toBeUndefined()
  expect(brokenStep(1, { 'critic/skipped_updates': 1 })?.skipped).toBe(1)
})

test('an entropy that is not finite counts where no update was left out, and is never taken for a loss', () => {
  const metrics = {
    ...SOUND,
    'actor/entropy': Number.NaN,
    'layer/entropy/0': 1,
    'layer/entropy/2': Number.POSITIVE_INFINITY,
    'layer/entropy/10': Number.NaN,
    'layer/delta_h_ffn/1': Number.NaN,
  }
  expect(brokenStep(3, metrics)).toEqual({
    step: 3,
    metrics: ['actor/entropy', 'layer/entropy/2', 'layer/entropy/10'],
    skipped: 0,
  })
})

test('weights that are not finite end it at once, with what the steps before them showed', () => {
  const guard = new Guard()
  guard.see(4, BROKEN)
  guard.see(5, BROKEN)
  const unsound = { model: 'critic', part: 'adam_v', parameter: 'score.weight' } as const
  const { broken } = guard.brokenBy(5, unsound)
  expect(broken.map(({ step }) => step)).toEqual([4, 5])
  expect(broken[1]).toMatchObject({ skipped: 2, unsound })
  expect(guard.brokenBy(6, unsound).message).toMatch(
    /^Step 6: adam_v of score\.weight of the critic not finite\.$/m,
  )
  expect(brokenHead(broken)).toContain('no checkpoint')
  expect(brokenHead(broken.slice(0, 1))).toMatch(/updates were not applied\.$/)
  expect(brokenHead([{ step: 1, metrics: ['actor/entropy'], skipped: 0 }])).not.toContain('updates')
})

test('the words name the tensor and the sample', () => {
  const evidence = {
    model: 'actor',
    update: 0,
    parameter: 'model.layers.1.mlp.down_proj.weight',
    token: { row: 3, position: 1, prompt: '1+1=', response: '2' },
  } as const
  expect(brokenWords({ step: 7, metrics: [], skipped: 1, evidence })).toBe(
    'Step 7: 1 update was not applied; the gradient of model.layers.1.mlp.down_proj.weight of the policy not finite; first at token 2 of sample 4, “1+1=2”.',
  )
  const overflow = { model: 'critic', update: 1 } as const
  expect(brokenWords({ step: 7, metrics: [], skipped: 2, evidence: overflow })).toMatch(
    /too large for their norm\.$/,
  )
})
