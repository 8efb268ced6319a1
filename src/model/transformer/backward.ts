// Records the transformer, backward, as a list of kernel calls: the last line of the forward first;
// block_backward.ts has one block. B rows of up to T columns, M tokens in all
// (model/transformer/rows.ts); C hidden, F intermediate, H query heads, K key/value heads, D head
// size, L blocks.
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { embeddingBackward, NO_PADDING } from '../../kernels/embedding/embedding.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { vocabHeadKernels } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelShape } from '../layout/config.ts'
import { readsNormed } from '../layout/readout.ts'
import type { RowRange } from '../params/param_buffers.ts'
import type { ParamGradients } from '../params/param_tensors.ts'
import { backwardScratch, blockBackward, normGrad, normWeightGrad } from './block_backward.ts'
import { loadHalves } from './kept_halves.ts'
import { addVectorGrad, lowestVector } from './low_rank.ts'
import { type Model, type Tokens, tokensOf } from './model.ts'
import { type PolicyRead, scoredResponse } from './policy.ts'
import { blockForward } from './transformer.ts'
import { addAll, translateGrad, translatorOf } from './translate.ts'
import type { Workspace } from './workspace.ts'

/** Gradient of everything that readPolicy used, from ws.response.d_log_probs and
 * d_entropy. Adds to `grads` (clear them first): embedding, head and blocks 1…layer; the final
 * norm's weight where it was read through; nothing for what `grads` do not have. Blocks above
 * `layer` are not run. */
export function backward<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  { layer, inv_temperature, count, readout = 'raw', along }: PolicyRead<L> & Along,
): void {
  const { shape } = model
  const { run } = recorder
  const { d_hidden, d_normed } = backwardScratch(ws)
  const isNormed = readsNormed(shape, layer, readout)
  const dRead = isNormed ? d_normed : d_hidden

  recorder.clear(dRead)
  const hidden = isNormed ? ws.normed : ws.hidden[layer]
  headGrad(run, model, grads.lm_head, ws, { hidden, d_hidden: dRead, inv_temperature })
  backwardStates(recorder, model, grads, ws, { layer, count, readout, along })
}

/** Adds the gradient of another policy of `layer`, by the log-probs and entropies of `ws`, to what
 * flows back through that layer. For `along`. */
export function addPolicyGradient<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  read: PolicyRead<L>,
): void {
  const { d_normed } = backwardScratch(ws)
  const { layer, inv_temperature, readout = 'raw' } = read
  recorder.clear(d_normed)
  const hidden = readsNormed(model.shape, layer, readout) ? ws.normed : ws.hidden[layer]
  headGrad(recorder.run, model, grads.lm_head, ws, { hidden, d_hidden: d_normed, inv_temperature })
  addStatesGradient(recorder, model, grads, ws, read)
}

/** Adds ws.backward.d_normed, the gradient of what a policy of `layer` read, to what flows back
 * through that layer. */
export function addStatesGradient<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  { layer, count, readout = 'raw' }: Omit<PolicyRead<L>, 'inv_temperature'>,
): void {
  const { d_hidden, d_normed, d_translated } = backwardScratch(ws)
  if (readsNormed(model.shape, layer, readout)) {
    const tokens = tokensOf(ws, count)
    const hidden = ws.hidden[layer]
    const through = translatorOf(model, ws, layer, readout)
    const x = through?.translated ?? hidden
    const norm = { x, weight: model.weights.norm, inv_rms: ws.normed_inv_rms }
    normWeightGrad(run, ws, tokens, norm, grads.norm)
    if (!through) return normGrad(run, ws, tokens, norm, 1)
    const { translator } = through
    if (!d_translated) throw new Error(`readout: no room was made for what layer ${layer} learns`)
    // What flows back from above waits in d_hidden.
    const own = { ...ws, backward: { ...backwardScratch(ws), d_hidden: d_translated } }
    normGrad(run, own, tokens, norm, 0)
    translateGrad(run, model, own, tokens, { hidden, translator, grads: grads.translator })
    addAll(run, tokens.count, d_translated, d_hidden)
    return
  }
  const [M, C] = d_hidden.shape
  run(reduceRows(1), { rows: 1, cols: M * C }, { x: d_normed, out: d_hidden })
}

/** log_probs, entropy = head(hidden · E^T): d_hidden, which was cleared, and E's gradient, range by
 * range. */
function headGrad<L extends string>(
  run: Recorder<L>['run'],
  { shape, weights }: Model,
  grads: readonly RowRange[] | undefined,
  ws: Workspace,
  {
    hidden,
    d_hidden,
    inv_temperature,
  }: { readonly hidden: Tensor; readonly d_hidden: Tensor; readonly inv_temperature: Value<L> },
): void {
  const { scored, lse, entropy, d_log_probs, d_entropy } = ws.response
  const { head_partials: partials } = backwardScratch(ws)
  const splits = ws.headSplits
  const { tokens } = scoredResponse(ws)
  const { hidden_size } = shape
  weights.lm_head.forEach(({ first: first_id, tensor: weight }, i) => {
    const vocab_size = weight.shape[0]
    const { backwardHidden, backwardWeight } = vocabHeadKernels(shape, weight.dtype)
    const size = { tokens, hidden_size, vocab_size, inv_temperature, first_id }
    const head = { hidden, weight, scored, lse, entropy, d_log_probs, d_entropy }
    run(backwardHidden, size, { ...head, d_hidden })
    if (!grads) return
    run(backwardWeight, { ...size, splits }, { ...head, partials })
    const sums = { rows: splits, cols: vocab_size * hidden_size }
    run(reduceRows(splits), sums, { x: partials, out: grads[i].tensor })
  })
}

interface Along {
  /** Called for every layer below, from above, when its gradient is in ws.backward.d_hidden and
   * d_normed is free: what else reads that layer adds to it. */
  readonly along?: ((layer: number) => void) | undefined
}

/** Where the gradient of states begins, and who else adds to it. */
type StatesRead<L extends string> = Omit<PolicyRead<L>, 'inv_temperature'> & Along

/** From the gradient of what a policy of `layer` or a value head read (ws.backward.d_normed for the
 * final norm's output, d_hidden below it) down to the embedding, or to the lowest block that is
 * trained. Adds to `grads`. */
export function backwardStates<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  { layer, count, readout = 'raw', along = () => {} }: StatesRead<L>,
): void {
  const { run } = recorder
  const { shape, weights } = model
  const tokens = tokensOf(ws, count)
  if (readsNormed(shape, layer, readout)) {
    // normed = rms_norm(hidden[layer]), or of what a translator makes of it
    const hidden = ws.hidden[layer]
    const through = translatorOf(model, ws, layer, readout)
    const x = through?.translated ?? hidden
    const norm = { x, weight: weights.norm, inv_rms: ws.normed_inv_rms }
    normGrad(run, ws, tokens, norm, 0)
    normWeightGrad(run, ws, tokens, norm, grads.norm)
    if (through) {
      const { translator } = through
      translateGrad(run, model, ws, tokens, { hidden, translator, grads: grads.translator })
    }
  }
  const lowest = lowestTrained(grads, layer)
  const isSteered = grads.adapter?.vectors[lowest] !== undefined
  const vectorGrad = (at: number) =>
    addVectorGrad(run, grads.adapter, at, tokens, backwardScratch(ws).d_hidden)
  vectorGrad(layer)
  for (let l = layer - 1; l >= lowest; l--) {
    // The last block's activations are still there.
    if (l < layer - 1) {
      along(l + 1)
      vectorGrad(l + 1)
      if (ws.isRecomputed) blockForward(recorder, model, { ws, l, tokens }, 'activations')
      loadHalves(run, ws, l, tokens)
    }
    const ends = l === lowest && !grads.embed_tokens && !isSteered
    blockBackward(run, model, grads, { ws, l, tokens }, ends)
  }

  if (lowest < layer) {
    if (lowest > 0) along(lowest)
    vectorGrad(lowest)
  }
  // What reads lower layers is measured, and trains nothing below the lowest.
  for (let l = Math.min(lowest, layer) - 1; l >= 1; l--) along(l)
  if (grads.embed_tokens) embeddingGrad(run, shape, ws, tokens, grads.embed_tokens)
}

/** The lowest of the first `layer` blocks whose gradient anything needs, counted from 0; `layer`
 * where none does. A vector needs that of the block above it. */
function lowestTrained(grads: ParamGradients, layer: number): number {
  if (grads.embed_tokens) return 0
  if (grads.adapter?.layout.rank === 0) return Math.min(layer, lowestVector(grads.adapter))
  for (let l = 0; l < layer; l++)
    if (grads.layers[l] || Object.keys(grads.adapter?.blocks[l] ?? {}).length > 0) return l
  return layer
}

/** hidden[0] = E[input_ids]: each range of rows gets the gradients of the ids that it has. */
function embeddingGrad<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  ws: Workspace,
  tokens: Tokens<L>,
  ranges: readonly RowRange[],
): void {
  const { d_hidden: d_out } = backwardScratch(ws)
  const { hidden_size, padding_idx = NO_PADDING } = shape
  for (const { first, tensor: d_weight } of ranges) {
    const size = { tokens: tokens.count, hidden_size, first_id: first, ids: d_weight.shape[0] }
    const tensors = { input_ids: ws.input_ids, d_out, d_weight }
    run(embeddingBackward(shape), { ...size, padding_idx }, tensors)
  }
}
