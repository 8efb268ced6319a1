// Computes the policies of transformer.ref.ts in float64: log-probabilities and entropies read
// after any number of blocks.
import type { ModelConfig } from '../layout/config.ts'
import type { PlainReadout, Readout } from '../layout/readout.ts'
import { linear, logSoftmax, type RefArrays, rmsNorm } from './operations.ref.ts'
import type { RefCache } from './transformer.ref.ts'
import { type RefTranslator, translateRef } from './translate.ref.ts'

/** Which tokens are scored: response token t of a row is predicted at column first_column + t. */
export interface RefResponse {
  /** [rows, response_length], as is the mask. */
  readonly response_ids: ArrayLike<number>
  readonly response_mask: ArrayLike<number>
  /** P − 1: the last column of the prompt. */
  readonly first_column: number
  readonly response_length: number
  readonly temperature: number
  /** Whether an inner layer's states go through the final norm first; default 'raw' = no.
   * 'unnormed': those of the last layer neither. A translator: through it and the norm. */
  readonly readout?: 'raw' | 'normed' | 'unnormed' | RefTranslator | undefined
  /** Of layers that learn along. */
  readonly translators?: RefTranslators | undefined
}

/** The matrix that turns states into logits: the embedding where they are tied. */
export const headName = (config: ModelConfig) =>
  config.tie_word_embeddings ? 'model.embed_tokens' : 'lm_head'

/** logits [n, V] = states [n, C] · U^T, temperature not applied. */
export function logitsRef(
  config: ModelConfig,
  params: RefArrays,
  states: Float64Array,
): Float64Array {
  return linear(states, config.hidden_size, params[`${headName(config)}.weight`])
}

/** Translators of a phase, by layer. */
export type RefTranslators = Readonly<Record<number, RefTranslator>>

/** How `layer` is read: by its name, or through its translator. Throws Error where that is
 * missing. */
export function refReadout(
  readout: Readout | undefined,
  layer: number,
  translators: RefTranslators = {},
): PlainReadout | RefTranslator | undefined {
  if (readout === undefined || readout === 'raw' || readout === 'normed') return readout
  const translator = translators[layer]
  if (!translator) throw new Error(`float64: expected a translator of layer ${layer}, got none`)
  return translator
}

/** Whether the policy of `layer` is read through the final norm: for L, unless told otherwise, and
 * below it where `readout` says so. */
export const readsNormed = (config: ModelConfig, layer: number, readout: RefResponse['readout']) =>
  readout !== 'unnormed' && (layer === config.num_hidden_layers || (readout ?? 'raw') !== 'raw')

/** The translator between the states of `layer` and the final norm, where there is one. */
export const translatorRef = (
  config: ModelConfig,
  layer: number,
  readout: RefResponse['readout'],
): RefTranslator | undefined =>
  typeof readout === 'object' && layer < config.num_hidden_layers ? readout : undefined

/** What the policy of `layer` reads its logits from, [M, C]. */
export function statesOf(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  { readout }: RefResponse,
): Float64Array {
  if (!(layer < cache.hidden_states.length))
    throw new RangeError(`layer: expected at most ${cache.blocks.length} blocks, got ${layer}`)
  const translator = translatorRef(config, layer, readout)
  const hidden = cache.hidden_states[layer]
  const states = translator ? translateRef(hidden, translator) : hidden
  return readsNormed(config, layer, readout)
    ? rmsNorm(states, params['model.norm.weight'], config.rms_norm_eps)
    : states
}

/** Calls `visit` with each unmasked response token: its index in [B, R], its token's index m, and
 * its log-softmax. */
export function eachResponseToken(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse,
  visit: (i: number, m: number, logP: Float64Array, entropy: number) => void,
): void {
  const { hidden_size: C } = config
  const { response_mask, first_column, response_length: R, temperature } = response
  const states = statesOf(config, params, cache, layer, response)
  for (let i = 0; i < cache.batch.rows * R; i++) {
    if (!response_mask[i]) continue
    const m = Math.floor(i / R) * cache.batch.width + first_column + (i % R)
    const logits = logitsRef(config, params, states.subarray(m * C, (m + 1) * C))
    const logP = logSoftmax(logits.map((z) => z / temperature))
    visit(i, m, logP, -logP.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0))
  }
}

/** Log-probabilities of the response tokens and entropies of their distributions, [B, R] in nats,
 * under the policy read after `layer` blocks: softmax(hidden[layer] · U^T / temperature), with the
 * final norm for layer L and for readout 'normed'. Zero where response_mask is. Source: BuPO eq. 5,
 * arXiv 2512.19673. */
export function policyRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse,
): { log_probs: Float64Array; entropy: Float64Array } {
  const log_probs = new Float64Array(response.response_mask.length)
  const entropy = new Float64Array(response.response_mask.length)
  eachResponseToken(config, params, cache, layer, response, (i, _, logP, h) => {
    log_probs[i] = logP[response.response_ids[i]]
    entropy[i] = h
  })
  return { log_probs, entropy }
}
