// Makes a policy of a layer's states in float64: raw, through the final norm, or through a
// translator and then the norm.
import type { ModelConfig } from '../layout/config.ts'
import {
  linearBackward,
  logSoftmax,
  type RefArrays,
  type RefBatch,
  rmsNorm,
  rmsNormBackward,
} from '../transformer/operations.ref.ts'
import { headName, logitsRef } from '../transformer/policy.ref.ts'
import {
  type RefTranslator,
  translateBackwardRef,
  translateRef,
} from '../transformer/translate.ref.ts'

/** 'raw' = softmax(U h), 'normed' = softmax(U norm(h)), a translator = softmax(U norm(matrix h +
 * bias)). */
export type RefReading = 'raw' | 'normed' | RefTranslator

const NORM = 'model.norm.weight'

const translated = (states: Float64Array, reading: RefReading): Float64Array =>
  typeof reading === 'string' ? states : translateRef(states, reading)

/** What the unembedding reads of states [M, C]. */
export function readStatesRef(
  config: ModelConfig,
  params: RefArrays,
  states: Float64Array,
  reading: RefReading,
): Float64Array {
  if (reading === 'raw') return states
  return rmsNorm(translated(states, reading), params[NORM], config.rms_norm_eps)
}

/** Log-probabilities [M, V] of the policy of states [M, C]. */
export function readPolicyRef(
  config: ModelConfig,
  params: RefArrays,
  states: Float64Array,
  reading: RefReading,
): Float64Array {
  const { vocab_size: V } = config
  const logits = logitsRef(config, params, readStatesRef(config, params, states, reading))
  for (let i = 0; i < logits.length; i += V) logits.set(logSoftmax(logits.subarray(i, i + V)), i)
  return logits
}

/** Backward of the logits of readPolicyRef: the gradient of the states, and of the translator where
 * there is one. Adds those of the unembedding and the final norm to `grads`. */
export function readingBackwardRef(
  config: ModelConfig,
  params: RefArrays,
  grads: RefArrays,
  states: Float64Array,
  reading: RefReading,
  d_logits: Float64Array,
): { d_states: Float64Array; d_translator: RefTranslator | undefined } {
  const { hidden_size: C, rms_norm_eps } = config
  const read = readStatesRef(config, params, states, reading)
  const dRead = linearBackward(params, grads, headName(config), read, C, d_logits)
  if (reading === 'raw') return { d_states: dRead, d_translator: undefined }
  const x = translated(states, reading)
  const d_x = rmsNormBackward(params, grads, NORM, rms_norm_eps, x, dRead)
  if (reading === 'normed') return { d_states: d_x, d_translator: undefined }
  return translateBackwardRef(states, reading, d_x)
}

/** Columns whose token and the next are both there, [rows, width − 1]. */
const hasNext = ({ width, attention_mask }: RefBatch, m: number) =>
  m % width < width - 1 && Boolean(attention_mask[m] && attention_mask[m + 1])

/** Of every policy [M, V] the log-probability of the next token, [rows, width − 1]; zero where
 * there is none. */
export function nextLogProbsRef(batch: RefBatch, logP: Float64Array): Float64Array {
  const { rows, width, input_ids } = batch
  const V = logP.length / (rows * width)
  return Float64Array.from({ length: rows * (width - 1) }, (_, i) => {
    const m = Math.floor(i / (width - 1)) * width + (i % (width - 1))
    return hasNext(batch, m) ? logP[m * V + input_ids[m + 1]] : 0
  })
}

/** A number for each token that is there, [M]: zero elsewhere. */
const each = (
  { rows, width, attention_mask }: RefBatch,
  logP: Float64Array,
  value: (row: Float64Array, m: number) => number,
) => {
  const V = logP.length / (rows * width)
  return Float64Array.from({ length: rows * width }, (_, m) =>
    attention_mask[m] ? value(logP.subarray(m * V, (m + 1) * V), m) : 0,
  )
}

/** Entropies of policies [M, V], in nats. */
export const entropiesRef = (batch: RefBatch, logP: Float64Array): Float64Array =>
  each(batch, logP, (row) => -row.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0))

/** KL(p ‖ q) of policies [M, V], in nats. */
export const divergencesRef = (
  batch: RefBatch,
  logP: Float64Array,
  logQ: Float64Array,
): Float64Array =>
  each(batch, logP, (row, m) =>
    row.reduce((sum, lp, v) => sum + Math.exp(lp) * (lp - logQ[m * row.length + v]), 0),
  )
