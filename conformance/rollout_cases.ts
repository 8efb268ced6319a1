// Runs golden cases of rollout correction: importance weights, rejection, how far two policies are
// apart, and bypass mode.
import type { Gpu } from '../src/kernels/device/gpu.ts'
import { rolloutCorrectionRef } from '../src/kernels/rollout_correction/rollout_correction.ref.ts'
import {
  ROLLOUT_CORRECTION_SUMS,
  rollout_correction,
} from '../src/kernels/rollout_correction/rollout_correction.ts'
import { ALGORITHM_DEFAULTS } from '../src/rl/config/algorithm.ts'
import type { RlPhase } from '../src/rl/config/phase.ts'
import type { RolloutCorrection } from '../src/rl/config/rollout_correction.ts'
import { weightBounds } from '../src/rl/experience/importance_threshold.ts'
import {
  correctionParams,
  type LogProbPair,
  offpolicyMetrics,
  rolloutIsWeights,
  rolloutRejectionMask,
} from '../src/rl/experience/rollout_correction.ts'
import type { DescribedWeights } from '../src/rl/experience/rollout_correction_metrics.ts'
import { objectiveOf } from '../src/rl/learners/objective.ts'
import { policyLossRef } from '../src/rl/losses/policy_loss.ref.ts'
import { CaseError, type Fields } from './base/fields.ts'
import { type Fixture, type Handler, isJanuary, type Outputs } from './base/fixture.ts'
import { type Scratch, withScratch } from './base/gpu_scratch.ts'
import {
  type LossBatch,
  type LossSettings,
  liveOf,
  lossMetrics,
  objectiveTensors,
  readLossBatch,
  readLossSettings,
  runObjective,
} from './base/objective_run.ts'
import { F64, f64Metrics, GPU_GRADIENT, GPU_VALUE, within } from './base/tolerances.ts'
import { refConfig } from './policy_loss_cases.ts'

function readPair(inputs: Fields): LogProbPair {
  const mask = inputs.matrix('response_mask')
  return {
    response_mask: mask.data,
    response_length: mask.columns,
    old_log_prob: inputs.matrix('old_log_prob', mask).data,
    rollout_log_prob: inputs.matrix('rollout_log_prob', mask).data,
  }
}

/** A threshold as verl writes them; undefined where it is absent. */
function readThreshold(config: Fields, name: string): string | number | undefined {
  const threshold = config.raw(name)
  if (threshold !== undefined && typeof threshold !== 'string' && typeof threshold !== 'number')
    throw new CaseError(`${config.where}.${name}: expected a text or a number`)
  return threshold
}

/** verl's rollout_correction block; what it leaves out is off. */
export function readCorrection(config: Fields): RolloutCorrection {
  const defaults = ALGORITHM_DEFAULTS.rollout_correction
  return {
    rollout_is: config.has('rollout_is')
      ? config.choice('rollout_is', ['token', 'sequence'])
      : defaults.rollout_is,
    rollout_is_threshold:
      readThreshold(config, 'rollout_is_threshold') ?? defaults.rollout_is_threshold,
    rollout_is_batch_normalize: config.flag('rollout_is_batch_normalize', false),
    rollout_rs: config.optionalText('rollout_rs') ?? null,
    rollout_rs_threshold: readThreshold(config, 'rollout_rs_threshold') ?? null,
    bypass_mode: config.flag('bypass_mode', defaults.bypass_mode),
    loss_type: config.choice('loss_type', ['ppo_clip', 'reinforce'], defaults.loss_type),
  }
}

/** The kernel's weights and mask; its loss_type is reinforce, because ppo_clip has no weights. */
const correctOnGpu = (gpu: Gpu, pair: LogProbPair, correction: RolloutCorrection) =>
  withScratch(gpu, async ({ f32, output, zeros }: Scratch) => {
    const tokens = pair.response_mask.length
    const { response_length } = pair
    const size = { rows: tokens / response_length, response_length }
    const tensors = {
      log_probs: f32('log_probs', [tokens], pair.old_log_prob),
      rollout_log_probs: f32('rollout_log_probs', [tokens], pair.rollout_log_prob),
      response_mask: f32('response_mask', [tokens], pair.response_mask),
      modified_mask: output('modified_mask', [tokens]),
      rollout_is_weights: output('rollout_is_weights', [tokens]),
      sums: zeros('sums', [ROLLOUT_CORRECTION_SUMS.length]),
    }
    const params = correctionParams({ ...correction, loss_type: 'reinforce' })
    await gpu.run(rollout_correction, { ...size, ...params }, tensors)
    const [modified_mask, weights] = await gpu.read(
      tensors.modified_mask,
      tensors.rollout_is_weights,
    )
    return { modified_mask, weights }
  })

/** The kernel's reference, as correctOnGpu. */
function correctReference(
  { old_log_prob, rollout_log_prob, ...masked }: LogProbPair,
  correction: RolloutCorrection,
) {
  const params = correctionParams({ ...correction, loss_type: 'reinforce' })
  const logProbs = { log_probs: old_log_prob, rollout_log_probs: rollout_log_prob }
  return rolloutCorrectionRef(params, { ...masked, ...logProbs })
}

/** What the metrics of importance weights describe changed after January. */
const describedBy = (fixture: Pick<Fixture, 'source'>): DescribedWeights =>
  isJanuary(fixture) ? 'raw' : 'applied'

const rollout_is_weights: Handler = ({ inputs, config, source }) => {
  const pair = readPair(inputs)
  const correction = readCorrection(config)
  return [
    {
      on: 'driver',
      run: () =>
        within(f64Metrics, { ...rolloutIsWeights(pair, correction, describedBy({ source })) }),
    },
    {
      on: 'reference',
      run: () => {
        const { rollout_is_weights } = correctReference(pair, correction)
        return within(F64, { rollout_is_weights })
      },
    },
    {
      on: 'gpu',
      run: async (gpu) => {
        const { weights } = await correctOnGpu(gpu, pair, correction)
        return within(GPU_VALUE, { rollout_is_weights: weights })
      },
    },
  ]
}

const rollout_rejection_mask: Handler = ({ inputs, config }) => {
  const pair = readPair(inputs)
  const correction = readCorrection(config)
  const driver = (): Outputs => {
    const { response_mask, metrics } = rolloutRejectionMask(pair, correction)
    const { rollout_rs_masked_fraction, rollout_rs_seq_masked_fraction } = metrics
    return {
      ...within('exact', { modified_response_mask: response_mask }),
      ...within(f64Metrics, { rollout_rs_masked_fraction, rollout_rs_seq_masked_fraction }),
    }
  }
  const reference = () => {
    const { modified_mask } = correctReference(pair, correction)
    return within('exact', { modified_response_mask: modified_mask })
  }
  const onGpu = async (gpu: Gpu) => {
    const { modified_mask } = await correctOnGpu(gpu, pair, correction)
    return within('exact', { modified_response_mask: modified_mask })
  }
  return [
    { on: 'driver', run: driver },
    { on: 'reference', run: reference },
    { on: 'gpu', run: onGpu },
  ]
}

const offpolicy_metrics: Handler = ({ inputs }) => {
  const mask = inputs.matrix('response_mask')
  const pair = {
    response_mask: mask.data,
    response_length: mask.columns,
    old_log_prob: inputs.matrix('old_log_prob', mask).data,
    rollout_log_prob: inputs.optionalMatrix('rollout_log_prob', mask)?.data ?? null,
  }
  return [{ on: 'driver', run: () => within(F64, offpolicyMetrics(pair)) }]
}

const policy_loss_bypass_mode: Handler = ({ inputs, config, source, expected }) => {
  const batch = readLossBatch(inputs, 'rollout_log_prob')
  const settings = readLossSettings(config, { source })
  const correction = { ...readCorrection(config.fields('rollout_correction')), bypass_mode: true }
  const given = { settings, correction, batch }
  if (isJanuary({ source }))
    return [
      { on: 'reference', run: () => bypassReference(given, reportedSums) },
      { on: 'gpu', run: (gpu) => bypassOnGpu(gpu, given, reportedSums) },
    ]
  // Fixtures of later versions hold some of the metrics.
  const names = new Set(expected.fields('metrics').names())
  const asked = ({ metrics, ...outputs }: Outputs, more: object = {}): Outputs => {
    const found = Object.entries({ ...(metrics.actual as object), ...more })
    const actual = Object.fromEntries(found.filter(([name]) => names.has(name)))
    return { ...outputs, metrics: { ...metrics, actual } }
  }
  const isPlain = weightBounds(correction.rollout_is_threshold).lower === null
  const all: Reported = (sums) => sums
  return [
    { on: 'reference', run: () => asked(bypassReference(given, all), driverMetrics(given)) },
    {
      on: 'gpu',
      run: async (gpu) => {
        const { metrics, ...outputs } = await bypassOnGpu(gpu, given, all)
        // Of plain thresholds the kernel's mean is January's.
        return isPlain ? outputs : asked({ metrics, ...outputs })
      },
    },
  ]
}

interface BypassCase {
  readonly settings: LossSettings
  readonly correction: RolloutCorrection
  readonly batch: LossBatch
}
/** Which of the sums over tokens a version of verl reports. */
type Reported = (
  sums: Readonly<Record<string, number>>,
  correction: RolloutCorrection,
) => Readonly<Record<string, number>>

/** What verl's own function for weights and rejection says of the batch, under the names of bypass
 * mode. */
function driverMetrics({ batch, correction }: BypassCase): Record<string, number> {
  const pair = { ...batch, old_log_prob: batch.log_probs, rollout_log_prob: batch.old_log_probs }
  const found = {
    ...rolloutIsWeights(pair, correction, 'applied').metrics,
    ...rolloutRejectionMask(pair, correction).metrics,
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [`rollout_corr/${name}`, value]),
  )
}

/** verl of January reports what is in use only. */
function reportedSums(
  sums: Readonly<Record<string, number>>,
  { rollout_is, rollout_rs, rollout_is_batch_normalize }: RolloutCorrection,
): Record<string, number> {
  const weighs = rollout_is !== null
  const isReported: Readonly<Record<string, boolean>> = {
    'rollout_corr/kl': true,
    'rollout_corr/rollout_rs_masked_fraction': rollout_rs !== null,
    'rollout_corr/rollout_is_mean': weighs,
    'rollout_corr/rollout_is_batch_norm_factor': weighs && rollout_is_batch_normalize,
  }
  const names = ROLLOUT_CORRECTION_SUMS.filter((name) => isReported[name])
  return Object.fromEntries(names.map((name) => [name, sums[name]]))
}

function bypassReference({ settings, correction, batch }: BypassCase, reported: Reported): Outputs {
  const corrected = rolloutCorrectionRef(correctionParams(correction), {
    ...batch,
    rollout_log_probs: batch.old_log_probs,
  })
  const lossMode = correction.loss_type === 'reinforce' ? 'reinforce' : 'vanilla'
  const found = policyLossRef(lossMode, refConfig(settings), {
    ...batch,
    response_mask: corrected.modified_mask,
    rollout_is_weights: corrected.rollout_is_weights,
  })
  return within(f64Metrics, {
    loss: found.loss,
    grad_log_prob: found.d_log_probs,
    metrics: { ...found.metrics, ...reported(corrected.metrics, correction) },
  })
}

const bypassOnGpu = (gpu: Gpu, { settings, correction, batch }: BypassCase, reported: Reported) =>
  withScratch(gpu, async (scratch): Promise<Outputs> => {
    const objective = objectiveOf({
      // It looks at the loss, not at batch sizes and the optimizer, which fixtures do not have.
      actor: settings.actor as RlPhase['actor'],
      algorithm: { ...ALGORITHM_DEFAULTS, rollout_correction: correction },
    })
    const live = liveOf(settings, objective.loss_mode, batch)
    const tensors = objectiveTensors(scratch, batch)
    const found = await runObjective(scratch, objective, live, tensors)
    const metrics = {
      ...lossMetrics(found, objective.loss_mode, live, batch),
      ...reported(found.correction_sums, correction),
    }
    return {
      ...within(GPU_VALUE, { loss: found.sums['actor/pg_loss'], metrics }),
      ...within(GPU_GRADIENT, { grad_log_prob: found.d_log_probs }),
    }
  })

export const ROLLOUT_CASES: Readonly<Record<string, Handler>> = {
  offpolicy_metrics,
  policy_loss_bypass_mode,
  rollout_is_weights,
  rollout_rejection_mask,
}
