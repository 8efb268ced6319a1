// Computes losses at several layers of one pass, and their gradients together, in float64.
import type { ModelConfig } from '../../src/model/layout/config.ts'
import type { ParamLayout } from '../../src/model/layout/params.ts'
import {
  backwardDistributionsRef,
  distributionsRef,
} from '../../src/model/transformer/distributions.ref.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { policyLossRef } from '../../src/rl/losses/policy_loss.ref.ts'
import { tokenMean } from '../../src/rl/teachers/distribution.ref.ts'
import { mixtureToken } from '../../src/rl/teachers/jsd.ref.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import { type Expected, refResponse, widthOf } from '../hf/model_case.ts'

export interface DepthModel {
  readonly config: ModelConfig
  readonly params: RefArrays
  readonly layout: ParamLayout
  readonly inputs: Expected
}

/** 0-based as in the cases: layer l is read after l + 1 blocks. */
type LayerName = number | 'final'

export interface DepthObjective {
  readonly objective: 'ce' | 'ppo' | 'self_distill'
  /** Whether inner layers are read through the final norm; raw ones are not, the last of them
   * neither. */
  readonly reading: 'raw' | 'normed'
  readonly layers: readonly LayerName[]
  readonly weights: readonly number[]
  readonly jsd_beta: number
  readonly token_weight: 'one' | 'advantage' | 'sign'
  readonly detach_teacher: boolean
  readonly ppo_weight: number
}

/** Throws CaseError for what is not known. */
export function readObjective(config: Fields, { config: shape }: DepthModel): DepthObjective {
  const objective = config.choice('objective', ['ce', 'ppo', 'self_distill'])
  const layers = config.raw('layers')
  const isLayer = (x: unknown) =>
    x === 'final' ||
    (Number.isInteger(x) && (x as number) >= 0 && (x as number) < shape.num_hidden_layers)
  if (!Array.isArray(layers) || !layers.every(isLayer))
    throw new CaseError(
      `${config.where}.layers: expected layers below ${shape.num_hidden_layers} or final`,
    )
  const isTaught = objective === 'self_distill'
  return {
    objective,
    reading: config.choice('reading', ['raw', 'normed']),
    layers: layers as LayerName[],
    weights: [...config.vector('weights', layers.length)],
    jsd_beta: isTaught ? config.number('jsd_beta') : 0.5,
    token_weight: isTaught
      ? config.choice('token_weight', ['one', 'advantage', 'sign'], 'one')
      : 'one',
    detach_teacher: isTaught ? config.flag('detach_teacher', true) : true,
    ppo_weight: isTaught ? config.number('ppo_weight', 1) : 1,
  }
}

interface DepthColumns {
  /** [B, R] */
  readonly advantages: Float64Array
  /** Own log-probs minus the old policy's. */
  readonly delta: Float64Array
}

/** A loss of one policy, unweighted, with its gradient by all log-probs [B, R, V]. */
interface Term {
  readonly loss: number
  readonly d_log_probs: Float64Array
}

const PPO = {
  loss_agg_mode: 'token-mean',
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.2,
  clip_ratio_c: 3,
} as const

/** Cross entropy, or PPO whose ratio is exp(delta), of the sampled tokens. */
function sampledTerm(
  kind: 'ce' | 'ppo',
  batch: RolloutBatch,
  all: Float64Array,
  { advantages, delta }: DepthColumns,
): Term {
  const { response_ids, response_mask, response_length } = batch
  const V = all.length / response_mask.length
  const log_probs = Float64Array.from(response_ids, (id, i) => all[i * V + id])
  const d_log_probs = new Float64Array(all.length)
  const tokens = response_mask.reduce((sum, m) => sum + m, 0)
  const found =
    kind === 'ce'
      ? {
          loss: -tokenMean(log_probs, response_mask),
          d_log_probs: Float64Array.from(response_mask, (m) => -m / tokens),
        }
      : policyLossRef('vanilla', PPO, {
          log_probs,
          advantages,
          response_mask,
          response_length,
          old_log_probs: log_probs.map((lp, i) => lp - delta[i]),
        })
  for (const [i, id] of response_ids.entries()) d_log_probs[i * V + id] = found.d_log_probs[i]
  return { loss: found.loss, d_log_probs }
}

/** The mean of w JSD(final ‖ layer) over tokens, with its gradient by both. */
function taughtTerm(
  batch: RolloutBatch,
  { layer, final }: { readonly layer: Float64Array; readonly final: Float64Array },
  { advantages }: DepthColumns,
  { jsd_beta: beta, token_weight }: DepthObjective,
): Term & { readonly d_teacher: Float64Array } {
  const { response_mask } = batch
  const V = layer.length / response_mask.length
  const tokens = response_mask.reduce((sum, m) => sum + m, 0)
  const d_log_probs = new Float64Array(layer.length)
  const d_teacher = new Float64Array(layer.length)
  const weightOf = { one: () => 1, advantage: (a: number) => a, sign: Math.sign }[token_weight]
  let loss = 0
  for (const [i, m] of response_mask.entries()) {
    if (m === 0) continue
    const weight = (m * weightOf(advantages[i])) / tokens
    const cut = (x: Float64Array) => x.subarray(i * V, (i + 1) * V)
    const [student, teacher] = [cut(layer), cut(final)]
    const token = mixtureToken(student, teacher, beta)
    // With the roles and shares exchanged it is the same number.
    const exchanged = mixtureToken(teacher, student, 1 - beta)
    loss += weight * token.loss
    for (let v = 0; v < V; v++) {
      d_log_probs[i * V + v] = weight * token.d_log_probs[v]
      d_teacher[i * V + v] = weight * exchanged.d_log_probs[v]
    }
  }
  return { loss, d_log_probs, d_teacher }
}

/** Loss, its unweighted terms by layer, and gradients by name; what the loss does not reach is
 * absent. */
export function depthGradients(
  { config, params }: DepthModel,
  batch: RolloutBatch,
  objective: DepthObjective,
  columns: DepthColumns,
): { loss: number; terms: Record<string, number>; grads: RefArrays } {
  const cache = forwardRef(config, params, { ...batch, width: widthOf(batch) })
  const L = config.num_hidden_layers
  const inner = objective.reading === 'raw' ? ('unnormed' as const) : ('normed' as const)
  const place = (layer: LayerName) => ({
    blocks: layer === 'final' ? L : layer + 1,
    response: { ...refResponse(batch), readout: layer === 'final' ? ('normed' as const) : inner },
  })
  const read = (layer: LayerName) => {
    const { blocks, response } = place(layer)
    return distributionsRef(config, params, cache, blocks, response)
  }
  const grads: RefArrays = {}
  const terms: Record<string, number> = {}
  let loss = 0
  const add = (layer: LayerName, weight: number, term: Term, name = `${layer}`) => {
    terms[name] = term.loss
    loss += weight * term.loss
    push(layer, weight, term.d_log_probs)
  }
  const push = (layer: LayerName, weight: number, d: Float64Array) => {
    const { blocks, response } = place(layer)
    const d_log_probs = d.map((x) => weight * x)
    backwardDistributionsRef(config, params, cache, blocks, { ...response, d_log_probs }, grads)
  }
  const { layers, weights } = objective
  if (objective.objective !== 'self_distill') {
    for (const [k, layer] of layers.entries())
      add(layer, weights[k], sampledTerm(objective.objective, batch, read(layer), columns))
    return { loss, terms, grads }
  }
  const final = read('final')
  add('final', objective.ppo_weight, sampledTerm('ppo', batch, final, columns), 'ppo_final')
  for (const [k, layer] of layers.entries()) {
    const term = taughtTerm(batch, { layer: read(layer), final }, columns, objective)
    add(layer, weights[k], term)
    if (!objective.detach_teacher) push('final', weights[k], term.d_teacher)
  }
  return { loss, terms, grads }
}
