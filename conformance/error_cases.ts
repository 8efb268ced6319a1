// Runs golden cases of what verl refuses: the lab refuses the same, with errors of its own kinds.
import { type KlPenalty, klKind } from '../src/kernels/kl/kl_penalty.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../src/kernels/policy_loss/aggregations/aggregations.ts'
import { aggregationParams } from '../src/kernels/policy_loss/loss_weights.ts'
import { weightBounds } from '../src/rl/experience/importance_threshold.ts'
import { rejectionBounds } from '../src/rl/experience/rollout_correction.ts'
import { policyLossRef } from '../src/rl/losses/policy_loss.ref.ts'
import type { Fields } from './base/fields.ts'
import type { Handler } from './base/fixture.ts'
import { readAggregation, readCounts } from './base/objective_run.ts'
import { within } from './base/tolerances.ts'
import { readCorrection } from './rollout_cases.ts'

/** One token. */
const TOKEN = {
  log_probs: [-1],
  old_log_probs: [-2],
  advantages: [1],
  response_mask: [1],
  response_length: 1,
}

/** verl's functions: what the lab runs for them, and what verl raises where that throws. */
const CALLS = {
  agg_loss: [
    (config, source) => {
      const name = config.raw('loss_agg_mode') as LossAggMode
      // A name that the lab does not know either is what such a case is about.
      return LOSS_AGG_MODES.includes(name)
        ? aggregationParams(readAggregation(config, { source }))
        : aggregationParams({ loss_agg_mode: name, ...readCounts(config) })
    },
    'ValueError',
  ],
  rollout_is_threshold: [
    (config) => weightBounds(readCorrection(config).rollout_is_threshold),
    'ValueError',
  ],
  rollout_rs_threshold: [
    (config) => {
      const { rollout_rs, rollout_rs_threshold } = readCorrection(config)
      return rejectionBounds(rollout_rs, rollout_rs_threshold)
    },
    'ValueError',
  ],
  dro: [
    (config) => {
      const dro_beta = config.optionalNumber('dro_beta') ?? Number.NaN
      return policyLossRef('dro', { loss_agg_mode: 'token-mean', policy_loss: { dro_beta } }, TOKEN)
    },
    'ValueError',
  ],
  // verl's word for a name that it does not know.
  kl_penalty: [
    (config) => klKind(`${config.raw('kl_penalty')}` as KlPenalty),
    'NotImplementedError',
  ],
} as const satisfies Record<
  string,
  readonly [run: (config: Fields, source: string) => unknown, raised: string]
>

const errors: Handler = ({ config, source }) => {
  const name = config.choice('function', Object.keys(CALLS) as (keyof typeof CALLS)[])
  const [call, raised] = CALLS[name]
  const outcome = () => {
    try {
      call(config, source)
      return null
    } catch (error) {
      if (error instanceof RangeError) return raised
      throw error
    }
  }
  // At once, so that every field of the case is read.
  const raises = outcome()
  return [{ on: 'driver', run: () => within('exact', { raises }) }]
}

export const ERROR_CASES: Readonly<Record<string, Handler>> = { errors }
