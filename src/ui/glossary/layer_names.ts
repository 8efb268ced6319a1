// Names the layers of a model, the same on every axis, in every legend and in every sentence. Layer
// 0 is the embedding; the last one holds the policy that answers.

/** In a legend, a table or a list. */
export function layerName(layer: number, last: number): string {
  if (layer === 0) return 'embedding'
  return layer === last ? 'final policy' : `layer ${layer}`
}

/** In a sentence. */
export const theLayer = (layer: number, last: number): string =>
  layer > 0 && layer < last ? layerName(layer, last) : `the ${layerName(layer, last)}`

/** Whose state it is, in a sentence: of the last layer, too, it is no policy. */
export const stateName = (layer: number): string =>
  layer === 0 ? 'the embedding' : `layer ${layer}`

/** The same in a list. */
export const stateLabel = (layer: number): string => (layer === 0 ? 'embedding' : `layer ${layer}`)

/** Which of these states the final policy is: elsewhere its layer goes by that name. */
export const lastStateSays = (last: number): string =>
  `The final policy is read from the state after layer ${last}, the last.`

/** At an axis, where there is room for a few letters. Without `last` the layers are states or
 * blocks, and the last is no policy yet. */
export function shortLayerName(layer: number, last?: number): string {
  if (layer === 0) return 'emb'
  return layer === last ? 'final' : `${layer}`
}
