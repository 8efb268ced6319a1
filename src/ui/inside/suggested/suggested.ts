// Writes and draws a change of entropy, and says in one sentence which layer comes first.
import { isFromStart, type LayerChanges, layerFor } from '../../../record/diagnosis/inner_layer.ts'
import { formatNats, formatNumber } from '../../kit/format.ts'

/** With its sign. */
export const changeText = (change: number): string =>
  `${change > 0 ? '+' : ''}${formatNats(change).replace(' nats', '')}`

/** Place of a bar in percent of its track, whose middle is no change and whose ends are the largest
 * of `all`. */
export function changeWidth(
  change: number,
  all: readonly number[],
): { readonly left: string; readonly width: string } {
  const largest = Math.max(...all.map(Math.abs)) || 1
  const width = (Math.abs(change) / largest) * 50
  return { left: `${change < 0 ? 50 - width : 50}%`, width: `${width}%` }
}

/** The answer in plain words. `rlStart`: the steps before reinforcement, once it has begun. */
export function plainSays(
  changes: LayerChanges,
  rlStart: number | undefined,
  threshold: number,
): string {
  const { step, delta_h_ffn } = changes
  const layer = layerFor(changes, threshold)?.layer
  const isStart = isFromStart(changes, rlStart)
  if (layer === undefined)
    return isStart
      ? `No layer comes first: at step ${step} no feed-forward widens the choice by more than ${formatNumber(threshold)} nats.`
      : `After step ${step} no feed-forward widens the choice by more than ${formatNumber(threshold)} nats.`
  const by = changeText(delta_h_ffn[layer - 1])
  // Then the last layer’s widens it, too.
  const isCut = (delta_h_ffn.at(-1) ?? 0) > threshold
  if (isCut)
    return isStart
      ? `Train layer ${layer} first: at step ${step} feed-forwards widen the choice up to the last layer, and layer ${layer} is the last inner one.`
      : `After step ${step} feed-forwards widen the choice up to the last layer; layer ${layer} is the last inner one.`
  return isStart
    ? `Train layer ${layer} first: it is the last layer whose feed-forward still widens the choice, by ${by} nats at step ${step}.`
    : `After step ${step} layer ${layer} is the last whose feed-forward still widens the choice, by ${by} nats.`
}

/** What a later state adds to that. */
export function laterSays(changes: LayerChanges, threshold: number): string {
  const layer = layerFor(changes, threshold)?.layer
  return layer === undefined
    ? `Later, after step ${changes.step}, no feed-forward does.`
    : `Later, after step ${changes.step}, it is layer ${layer} (${changeText(changes.delta_h_ffn[layer - 1])} nats).`
}
