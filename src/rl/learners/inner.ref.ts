// Computes what inner policies that learn along add to the gradients of an update, in float64.
import type { ModelConfig } from '../../model/layout/config.ts'
import { translatorValues } from '../../model/layout/translators.ts'
import { backwardRef } from '../../model/transformer/backward.ref.ts'
import {
  backwardDistributionsRef,
  distributionsRef,
} from '../../model/transformer/distributions.ref.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import {
  policyRef,
  type RefResponse,
  type RefTranslators,
  refReadout,
} from '../../model/transformer/policy.ref.ts'
import type { RefCache } from '../../model/transformer/transformer.ref.ts'
import type { Actor } from '../config/actor.ts'
import { innerStudents } from '../config/inner.ts'
import type { RlPhase } from '../config/phase.ts'
import { policyLossRef } from '../losses/policy_loss.ref.ts'
import { jsdToken } from '../teachers/jsd.ref.ts'
import type { PhaseLensState } from './lens/phase_lens.ts'

type Numbers = ArrayLike<number>

/** A phase with the translators that it reads layers through. */
export type RefPhase = RlPhase & { readonly translators?: RefTranslators | undefined }

/** The translators that a trainer has fitted for its phase. */
export const refTranslators = (
  hidden_size: number,
  fitted: readonly PhaseLensState[] = [],
): RefTranslators =>
  Object.fromEntries(
    fitted.map(({ layer, values }) => {
      const { residual, bias } = translatorValues({ hidden_size, values }, 0)
      const matrix = Float64Array.from(
        residual,
        (x, i) => x + (i % (hidden_size + 1) === 0 ? 1 : 0),
      )
      return [layer, { matrix, bias: Float64Array.from(bias) }]
    }),
  )

/** Log-probs of a batch under every inner policy, [B, R] each. */
export const innerOldRef = (
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  response: RefResponse,
  { inner }: Pick<Actor, 'inner'>,
): Float64Array[] =>
  innerStudents(inner).map(({ layer, readout: name }) => {
    const readout = refReadout(name, layer, response.translators)
    return policyRef(config, params, cache, layer, { ...response, readout }).log_probs
  })

/** Adds to `grads`; returns each layer's loss without its weight. */
export function addInnerRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  actor: Actor,
  {
    response,
    advantages,
    old,
    loss_weights,
    rollout_is_weights,
    grads,
  }: {
    readonly response: RefResponse
    readonly advantages: Numbers
    /** Of each inner policy. */
    readonly old: readonly Numbers[]
    readonly loss_weights: Numbers
    /** Of the samples, where the phase corrects them. */
    readonly rollout_is_weights?: Numbers
    readonly grads: RefArrays
  },
): number[] {
  const { inner } = actor
  const students = innerStudents(inner)
  if (students.length === 0) return []
  const { response_mask, response_length } = response
  const L = config.num_hidden_layers
  const final = distributionsRef(config, params, cache, L, { ...response, readout: 'normed' })
  const V = config.vocab_size
  return students.map(({ layer, readout, weight }, k) => {
    const own = { ...response, readout: refReadout(readout, layer, response.translators) }
    if (inner.objective === 'deep_supervision') {
      const policy = policyRef(config, params, cache, layer, own)
      const { loss, d_log_probs } = policyLossRef(actor.loss_mode, actor, {
        ...policy,
        old_log_probs: old[k],
        advantages,
        response_mask,
        response_length,
        ...(rollout_is_weights && { rollout_is_weights }),
      })
      const scaled = {
        d_log_probs: d_log_probs.map((d) => weight * d),
        d_entropy: new Float64Array(d_log_probs.length),
      }
      add(grads, backwardRef(config, params, cache, layer, { ...own, ...scaled }))
      return loss
    }
    const student = distributionsRef(config, params, cache, layer, own)
    const d_log_probs = new Float64Array(student.length)
    let loss = 0
    for (const [i, m] of Array.from(response_mask).entries()) {
      if (m === 0) continue
      const cut = (x: Float64Array) => x.subarray(i * V, (i + 1) * V)
      const found = jsdToken(cut(student), cut(final), inner.beta)
      const of = { one: 1, advantage: advantages[i], sign: Math.sign(advantages[i]) }
      const counts = loss_weights[i] * of[inner.token_weight]
      loss += counts * found.loss
      d_log_probs.set(
        found.d_log_probs.map((d) => weight * counts * d),
        i * V,
      )
    }
    backwardDistributionsRef(config, params, cache, layer, { ...own, d_log_probs }, grads)
    return loss
  })
}

function add(grads: RefArrays, more: RefArrays): void {
  for (const [name, x] of Object.entries(more))
    grads[name] = grads[name]?.map((g, i) => g + x[i]) ?? x
}
