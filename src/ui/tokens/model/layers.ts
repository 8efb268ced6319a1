// Computes the numbers of a text that a model has read, without React.
import type { Lens } from '../../../host/protocol/observation.ts'
import { type LensCell, type LensKind, layersOf, lensCell } from '../lens/lens.ts'

/** Mean entropy over the positions, by layer, nats. */
export function meanEntropies(lens: Lens, kind: LensKind): number[] {
  const { entropy } = lens[kind]
  const [layers, positions] = [layersOf(lens), lens.tokens.length]
  return Array.from({ length: layers }, (_, layer) => {
    let sum = 0
    for (let position = 0; position < positions; position++)
      sum += entropy[position * layers + layer]
    return sum / positions
  })
}

/** The policy of the whole model where each token was to come: the first has nothing before it. */
export const finalCells = (lens: Lens): readonly (LensCell | undefined)[] =>
  lens.tokens.map((_, i) => lensCell(lens, 'normed', layersOf(lens) - 1, i - 1))
