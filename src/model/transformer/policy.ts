// Turns states into a policy: the final norm where it applies, then the vocabulary head.
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { vocab_head_finish, vocabHeadKernels } from '../../kernels/vocab_head/vocab_head.ts'
import { type Readout, readsNormed } from '../layout/readout.ts'
import { roomFor } from './head_ranges.ts'
import { type Model, tokensOf } from './model.ts'
import type { ResponseTensors } from './response_tensors.ts'
import { translate, translatorOf } from './translate.ts'
import type { Workspace } from './workspace.ts'

/** Final norm of hidden[layer] into ws.normed; of what its translator makes of it where it is read
 * through one. */
export function finalNorm<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  { layer, readout = 'raw', count }: Omit<PolicyRead<L>, 'inv_temperature'>,
): void {
  const { shape, weights } = model
  const tokens = tokensOf(ws, count)
  const through = translatorOf(model, ws, layer, readout)
  if (through) translate(run, model, tokens, ws.hidden[layer], through)
  run(
    rms_norm_forward,
    { rows: tokens.count, cols: shape.hidden_size, eps: shape.rms_norm_eps },
    {
      x: through?.translated ?? ws.hidden[layer],
      weight: weights.norm,
      y: ws.normed,
      inv_rms: ws.normed_inv_rms,
    },
  )
}

/** Which tokens the vocabulary head scores, and by which states (kernels/vocab_head/scored.ts). */
export interface Scored {
  /** Entries of the list. */
  readonly tokens: number
  /** u32 [tokens, 4] */
  readonly scored: Tensor
}

/** What the vocabulary head says of each token, in the place that the list names. */
export type PolicyTensors = Pick<
  ResponseTensors,
  'log_probs' | 'entropy' | 'lse' | 'sum_pi_squared' | 'running'
>

/** The response tokens of a workspace. */
export const scoredResponse = ({ rows, response_length, response }: Workspace): Scored => ({
  tokens: rows * response_length,
  scored: response.scored,
})

/** The policy softmax(hidden · E^T · inv_temperature) of any states `hidden` [M, C], as they are:
 * no norm. Every policy of the model, trained or shown, is read here. */
export function unembed<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  { shape, weights }: Model,
  { hidden, inv_temperature }: { readonly hidden: Tensor; readonly inv_temperature: Value<L> },
  { tokens, scored }: Scored,
  { running: room, log_probs, entropy, lse, sum_pi_squared }: PolicyTensors,
): void {
  const [{ tensor: weight }, ...others] = weights.lm_head
  const kernels = vocabHeadKernels(shape, weight.dtype)
  const size = { tokens, hidden_size: shape.hidden_size, inv_temperature }
  const out = { log_probs, entropy, lse, sum_pi_squared }
  if (others.length === 0) {
    const params = { ...size, vocab_size: shape.vocab_size }
    return run(kernels.forward, params, { hidden, weight, scored, ...out })
  }
  const running = roomFor(room)
  for (const { first: first_id, tensor } of weights.lm_head) {
    const params = { ...size, vocab_size: tensor.shape[0], first_id }
    run(kernels.range, params, { hidden, weight: tensor, scored, running })
  }
  run(vocab_head_finish, { tokens }, { scored, running, ...out })
}

/** Which policy a pass reads, and of which tokens. */
export interface PolicyRead<L extends string> {
  /** Blocks before the head. */
  readonly layer: number
  readonly inv_temperature: Value<L>
  /** Tokens of the workspace's stream, as in forward(). */
  readonly count?: Value<L> | undefined
  /** 'raw' where it is absent. */
  readonly readout?: Readout | undefined
}

/** The policy read after `layer` blocks, scored on ws.response: log_probs, entropy, lse and
 * sum_pi_squared, [rows, R], each into ws.response unless `out` has another place for it. layer <
 * L: softmax(hidden[layer] · E^T), or of the normed states (see Readout); layer = L: the model's
 * own, with the final norm. Training and display both call this. */
export function readPolicy<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  { layer, inv_temperature, count, readout = 'raw' }: PolicyRead<L>,
  out: Partial<PolicyTensors> = {},
): void {
  const isNormed = readsNormed(model.shape, layer, readout)
  if (isNormed) finalNorm(recorder, model, ws, { layer, readout, count })
  const hidden = isNormed ? ws.normed : ws.hidden[layer]
  unembed(recorder, model, { hidden, inv_temperature }, scoredResponse(ws), {
    ...ws.response,
    ...out,
  })
}
