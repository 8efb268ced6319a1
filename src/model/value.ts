// One number per token (a critic) or per sequence (a reward model) instead of a policy: forward and backward.
// B rows, T columns, R response columns, C hidden.
import { embedding_backward, embedding_forward } from '../kernels/embedding/embedding.ts'
import { ShapeError } from '../kernels/errors.ts'
import type { Recorder } from '../kernels/program.ts'
import type { Allocator, Tensor } from '../kernels/tensor.ts'
import {
  value_head_backward_hidden,
  value_head_backward_weight,
  value_head_forward,
} from '../kernels/value_head/value_head.ts'
import { backwardScratch, backwardStates } from './backward.ts'
import type { ParamTensors } from './params.ts'
import { finalNorm, type Model } from './transformer.ts'
import type { Workspace } from './workspace.ts'

/** The columns that are read: value t of a row comes from column first_column + t. */
export interface Span {
  readonly first_column: number
  readonly response_length: number
}

/** Where verl reads the values of a response: the token before each, P - 1 + t. */
export const responseSpan = ({ width, response_length }: Workspace): Span => ({
  first_column: width - response_length - 1,
  response_length,
})

function scoreOf(params: ParamTensors): Tensor {
  if (!params.score) throw new ShapeError('value: this model has a vocabulary head and no score')
  return params.score
}

function biasOf(params: ParamTensors): Tensor {
  if (!params.score_bias) throw new ShapeError('value: this model has no score bias')
  return params.score_bias
}

const headSize = ({ shape }: Model, ws: Workspace, span: Span) => ({
  rows: ws.rows,
  width: ws.width,
  ...span,
  hidden_size: shape.hidden_size,
})

/**
 * values [rows, R] = score · final_norm(hidden[L]) + bias at the columns of `span`; 0 where mask [rows, R] is.
 * After forward(); Hugging Face's ForTokenClassification with one label, dropout 0.
 */
export function readValues<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  { mask, values }: { mask: Tensor; values: Tensor },
  span: Span = responseSpan(ws),
): void {
  finalNorm(recorder, model, ws, model.shape.num_hidden_layers)
  recorder.run(value_head_forward, headSize(model, ws, span), {
    hidden: ws.normed,
    weight: scoreOf(model.weights),
    bias: biasOf(model.weights),
    response_mask: mask,
    values,
  })
}

/** Gradient of everything that readValues used, from d_values [rows, R]. Adds to `grads` (clear them first). */
export function backwardValues<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamTensors,
  ws: Workspace,
  d_values: Tensor,
  span: Span = responseSpan(ws),
): void {
  const { d_normed } = backwardScratch(ws)
  const size = headSize(model, ws, span)
  recorder.clear(d_normed)
  recorder.run(value_head_backward_hidden, size, {
    d_values,
    weight: scoreOf(model.weights),
    d_hidden: d_normed,
  })
  recorder.run(value_head_backward_weight, size, {
    hidden: ws.normed,
    d_values,
    d_weight: scoreOf(grads),
    d_bias: biasOf(grads),
  })
  backwardStates(recorder, model, grads, ws, model.shape.num_hidden_layers)
}

/** What scoring whole sequences needs beside the workspace. */
export interface ScoreTensors {
  /** Row of ws.normed that each sequence is scored at, b·T + column, u32 [B]. */
  readonly last_rows: Tensor
  /** Those states and their gradient, [B, C]. */
  readonly states: Tensor
  readonly d_states: Tensor
  /** [B] */
  readonly scores: Tensor
  readonly d_scores: Tensor
  /** Ones: every sequence has a score; [B]. */
  readonly mask: Tensor
  /** Hugging Face's sequence head has no bias: zeros, and where their gradient goes unused; [1]. */
  readonly no_bias: Tensor
  readonly d_no_bias: Tensor
}

/** Allocates for `rows` sequences. The caller fills `mask` with ones and `last_rows`. */
export function createScoreTensors(
  alloc: Allocator,
  rows: number,
  hidden_size: number,
): ScoreTensors {
  const f32 = (label: string, ...shape: number[]) =>
    alloc.tensor(`score.${label}`, 'f32', shape, { kind: 'activations' })
  return {
    last_rows: alloc.tensor('score.last_rows', 'u32', [rows], { kind: 'batch' }),
    states: f32('states', rows, hidden_size),
    d_states: f32('d_states', rows, hidden_size),
    scores: f32('scores', rows),
    d_scores: f32('d_scores', rows),
    mask: f32('mask', rows),
    no_bias: f32('no_bias', 1),
    d_no_bias: f32('d_no_bias', 1),
  }
}

/**
 * scores [B] = score · final_norm(hidden[L]) at each row's last token. After forward(); Hugging Face's
 * ForSequenceClassification with one label.
 */
export function readScores<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  t: ScoreTensors,
): void {
  const { hidden_size } = model.shape
  finalNorm(recorder, model, ws, model.shape.num_hidden_layers)
  // The embedding kernel gathers rows: here each sequence's last state from [B·T, C].
  const gather = { input_ids: t.last_rows, weight: ws.normed, out: t.states }
  recorder.run(embedding_forward, { tokens: ws.rows, hidden_size }, gather)
  recorder.run(value_head_forward, sequences(model, ws), {
    hidden: t.states,
    weight: scoreOf(model.weights),
    bias: t.no_bias,
    response_mask: t.mask,
    values: t.scores,
  })
}

/** Gradient of everything that readScores used, from t.d_scores. Adds to `grads` (clear them first). */
export function backwardScores<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamTensors,
  ws: Workspace,
  t: ScoreTensors,
): void {
  const { hidden_size } = model.shape
  const { d_normed } = backwardScratch(ws)
  recorder.run(value_head_backward_hidden, sequences(model, ws), {
    d_values: t.d_scores,
    weight: scoreOf(model.weights),
    d_hidden: t.d_states,
  })
  recorder.run(value_head_backward_weight, sequences(model, ws), {
    hidden: t.states,
    d_values: t.d_scores,
    d_weight: scoreOf(grads),
    d_bias: t.d_no_bias,
  })
  // Back to where the states were gathered from.
  recorder.clear(d_normed)
  const tokens = ws.rows * ws.width
  recorder.run(
    embedding_backward,
    { tokens: ws.rows, hidden_size, vocab_size: tokens },
    { input_ids: t.last_rows, d_out: t.d_states, d_weight: d_normed },
  )
  backwardStates(recorder, model, grads, ws, model.shape.num_hidden_layers)
}

/** A sequence is a row of one token. */
const sequences = ({ shape }: Model, { rows }: Workspace) => ({
  rows,
  width: 1,
  first_column: 0,
  response_length: 1,
  hidden_size: shape.hidden_size,
})
