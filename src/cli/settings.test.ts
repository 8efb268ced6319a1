// The settings of an experiment against the engine, which lab itself may not load.
import { expect, test } from 'vitest'
import { parseExperiment } from '../document/experiment/experiment.ts'
import { experimentFields } from '../document/experiment/form/form.ts'
import type { Experiment } from '../document/experiment/schema/schema.ts'
import { KL_PENALTIES } from '../kernels/kl/kl_penalty.ts'
import { LOSS_AGG_MODES } from '../kernels/policy_loss/aggregations/aggregations.ts'
import { ROLLOUT_IS, RS_CRITERIA } from '../kernels/rollout_correction/rollout_correction.ts'
import { ADV_ESTIMATORS } from '../rl/estimators/advantages.ts'
import { rejectionBounds } from '../rl/experience/rollout_correction.ts'
import { LOSS_MODES } from '../rl/losses/losses.ts'

const parsed = (document: unknown): Experiment => {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}
const rejection = (rollout_rs: string, rollout_rs_threshold: string) => ({
  algorithm: { rollout_correction: { rollout_rs, rollout_rs_threshold } },
})

test('every option of a setting is one that the engine knows, and none is missing', () => {
  const fields = experimentFields(parsed({}))
  const options = (path: string) =>
    fields.find((field) => field.path === path)?.options?.map(({ value }) => value)
  const expected: [string, readonly (string | null)[]][] = [
    ['phases.1.adv_estimator', ADV_ESTIMATORS],
    ['actor.loss_mode', LOSS_MODES],
    ['actor.loss_agg_mode', LOSS_AGG_MODES],
    ['critic.loss_agg_mode', LOSS_AGG_MODES],
    ['actor.kl_loss_type', KL_PENALTIES],
    // A reward has no gradient that could be another one's.
    ['algorithm.kl_penalty', KL_PENALTIES.filter((kind) => !kind.endsWith('+'))],
    ['algorithm.rollout_correction.rollout_is', [...ROLLOUT_IS]],
  ]
  for (const [path, words] of expected) expect(new Set(options(path)), path).toEqual(new Set(words))
  expect(parseExperiment(rejection(RS_CRITERIA.join(), '2')).ok).toBe(true)
})

test('a threshold that the form accepts is one that the trainer accepts', () => {
  const parts = ['2', '0.5_2', '2_0.5', '0.5', '1', '1_1', '+3', '.5', '1e-3', '1e400', '2.', ' 2 ']
  let accepted = 0
  for (const rollout_rs of ['token_k1', 'seq_max_k3', 'token_k1,seq_mean_k2', 'token_k2,token_k2'])
    for (const a of parts)
      for (const rollout_rs_threshold of [a, ...parts.map((b) => `${a},${b}`)]) {
        const isLegal = parseExperiment(rejection(rollout_rs, rollout_rs_threshold)).ok
        const trains = () => rejectionBounds(rollout_rs, rollout_rs_threshold)
        if (isLegal) {
          accepted++
          expect(trains().size).toBeGreaterThan(0)
        } else expect(trains, `${rollout_rs}: ${rollout_rs_threshold}`).toThrow(RangeError)
      }
  expect(accepted).toBeGreaterThan(50)
})
