// Computes one number per token (a critic) or per sequence (a reward model) instead of a policy:
// forward and backward. B rows, T columns, R response columns, C hidden.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import {
  value_head_backward_hidden,
  value_head_backward_weight,
  value_head_forward,
} from '../../kernels/value_head/value_head.ts'
import type { ParamGradients, ParamTensors } from '../params/param_tensors.ts'
import { backwardStates } from './backward.ts'
import { backwardScratch } from './block_backward.ts'
import type { Model } from './model.ts'
import { finalNorm, type Scored, scoredResponse } from './policy.ts'
import type { Workspace } from './workspace.ts'

function scoreOf(params: Pick<ParamTensors, 'score'>): Tensor {
  if (!params.score) throw new ShapeError('value: this model has a vocabulary head and no score')
  return params.score
}

function biasOf(params: Pick<ParamTensors, 'score_bias'>): Tensor {
  if (!params.score_bias) throw new ShapeError('value: this model has no score bias')
  return params.score_bias
}

const headSize = ({ shape }: Model, { tokens }: Scored) => ({
  tokens,
  hidden_size: shape.hidden_size,
})

/** Which states have values, and of how many tokens, as in forward(). */
interface ValuePass<L extends string> {
  /** scoredResponse(ws) where it is absent. */
  readonly scored?: Scored | undefined
  readonly count?: Value<L> | undefined
}

/** values [rows, R] = score · final_norm(hidden[L]) + bias at the states of `scored`; 0 where that
 * says so. By default where verl reads the values of a response: at the token before each. After
 * forward(). Hugging Face's ForTokenClassification with one label, dropout 0. */
export function readValues<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  { values, scored = scoredResponse(ws), count }: ValuePass<L> & { readonly values: Tensor },
): void {
  finalNorm(recorder, model, ws, { layer: model.shape.num_hidden_layers, count })
  recorder.run(value_head_forward, headSize(model, scored), {
    hidden: ws.normed,
    weight: scoreOf(model.weights),
    bias: biasOf(model.weights),
    scored: scored.scored,
    values,
  })
}

/** Gradient of everything that readValues used, from d_values [rows, R]. Adds to `grads` (clear
 * them first). */
export function backwardValues<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  { d_values, scored = scoredResponse(ws), count }: ValuePass<L> & { readonly d_values: Tensor },
): void {
  const { d_normed } = backwardScratch(ws)
  const size = headSize(model, scored)
  recorder.clear(d_normed)
  recorder.run(value_head_backward_hidden, size, {
    scored: scored.scored,
    d_values,
    weight: scoreOf(model.weights),
    d_hidden: d_normed,
  })
  recorder.run(value_head_backward_weight, size, {
    hidden: ws.normed,
    scored: scored.scored,
    d_values,
    d_weight: scoreOf(grads),
    d_bias: biasOf(grads),
  })
  backwardStates(recorder, model, grads, ws, { layer: model.shape.num_hidden_layers, count })
}

/** What scoring whole sequences needs beside the workspace. */
export interface ScoreTensors {
  /** Which state scores which sequence, u32 [B, 4] (lastStates). */
  readonly scored: Tensor
  /** [B] */
  readonly scores: Tensor
  readonly d_scores: Tensor
  /** Hugging Face's sequence head has no bias: zeros, and where their gradient goes unused; [1]. */
  readonly no_bias: Tensor
  readonly d_no_bias: Tensor
}

/** Allocates for `rows` sequences. The caller fills `scored`. */
export function createScoreTensors(alloc: Allocator, rows: number): ScoreTensors {
  const f32 = (label: string, ...shape: number[]) =>
    alloc.tensor(`score.${label}`, 'f32', shape, { kind: 'activations' })
  return {
    scored: alloc.tensor('score.scored', 'u32', [rows, 4], { kind: 'batch' }),
    scores: f32('scores', rows),
    d_scores: f32('d_scores', rows),
    no_bias: f32('no_bias', 1),
    d_no_bias: f32('d_no_bias', 1),
  }
}

/** The list for sequences that are scored at `states`, one each: ScoreTensors.scored. */
export const lastStates = (states: Uint32Array): Uint32Array =>
  Uint32Array.from(Array.from(states).flatMap((state, b) => [state, b, 0, 1]))

/** scores [B] = score · final_norm(hidden[L]) at one state per sequence: Hugging Face's
 * ForSequenceClassification with one label. */
export function readScores<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  t: ScoreTensors,
): void {
  finalNorm(recorder, model, ws, { layer: model.shape.num_hidden_layers })
  recorder.run(value_head_forward, headSize(model, sequences(ws, t)), {
    hidden: ws.normed,
    weight: scoreOf(model.weights),
    bias: t.no_bias,
    scored: t.scored,
    values: t.scores,
  })
}

/** Gradient of everything that readScores used, from t.d_scores. Adds to `grads` (clear them
 * first). */
export function backwardScores<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  t: ScoreTensors,
): void {
  const { d_normed } = backwardScratch(ws)
  const size = headSize(model, sequences(ws, t))
  recorder.clear(d_normed)
  recorder.run(value_head_backward_hidden, size, {
    scored: t.scored,
    d_values: t.d_scores,
    weight: scoreOf(model.weights),
    d_hidden: d_normed,
  })
  recorder.run(value_head_backward_weight, size, {
    hidden: ws.normed,
    scored: t.scored,
    d_values: t.d_scores,
    d_weight: scoreOf(grads),
    d_bias: t.d_no_bias,
  })
  backwardStates(recorder, model, grads, ws, { layer: model.shape.num_hidden_layers })
}

const sequences = ({ rows }: Workspace, { scored }: ScoreTensors): Scored => ({
  tokens: rows,
  scored,
})
