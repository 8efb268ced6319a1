// Adds a direction to what an opened model writes: from one text to another, in the stream
// after one layer. Its layer and strength are read at every token, so that they may change while
// the model writes; nothing is recorded again.
import type { Gpu } from '../../kernels/device/gpu.ts'
import { meansOfTexts } from '../../model/internals/resolve.ts'
import {
  createInterventions,
  type InterventionTensors,
  writeInterventions,
} from '../../model/interventions/intervention_tensors.ts'
import { steeringChange } from '../../model/interventions/steering.ts'
import type { Model } from '../../model/transformer/model.ts'
import { MOST_PROMPT, MOST_WRITTEN } from './opened_generation.ts'

/** Tokens of each text at most. */
const MOST_TEXT = 64

/** Where a direction is added, and what it is multiplied by. */
export interface DirectionPlace {
  /** Blocks applied, 0 to L. */
  readonly layer: number
  readonly strength: number
}

export class OpenedSteering {
  /** The model with the changes that are made of it. */
  readonly model: Model
  readonly #gpu: Gpu
  readonly #table: InterventionTensors
  #vectors: readonly Float32Array[] | undefined

  constructor(gpu: Gpu, model: Model) {
    this.#gpu = gpu
    this.#table = createInterventions(gpu, model.shape, {
      changes: 1,
      values: model.shape.hidden_size,
      tokens: MOST_PROMPT,
      decoded: MOST_PROMPT + MOST_WRITTEN,
    })
    this.model = { ...model, interventions: this.#table }
  }

  /** Makes the vectors, of each layer the mean state of one text less that of the other, and
   * returns their sizes. Nothing is added until `place` says where. Throws RangeError for a text
   * without tokens, or with too many, and for the same text twice. */
  async direct(
    model: Model,
    toward: readonly number[],
    away: readonly number[],
  ): Promise<readonly number[]> {
    for (const { length } of [toward, away])
      if (length === 0 || length > MOST_TEXT)
        throw new RangeError(
          `Expected two texts of 1 to ${MOST_TEXT} tokens to steer between, found ${length}.`,
        )
    if (toward.join() === away.join())
      throw new RangeError('Expected two different texts to steer between, found the same twice.')
    const layers = Array.from({ length: model.shape.num_hidden_layers + 1 }, (_, layer) => layer)
    const places = layers.map((layer) => ({ where: 'residual', layer }) as const)
    const to = await meansOfTexts(this.#gpu, model, places, [toward])
    const from = await meansOfTexts(this.#gpu, model, places, [away])
    this.#vectors = to.map((mean, l) => mean.map((x, c) => x - from[l][c]))
    writeInterventions(this.#gpu, this.#table, model.shape, [])
    return this.#vectors.map((vector) => Math.hypot(...vector))
  }

  /** From the next tokens on, also of a text that is being written. Throws RangeError for a layer
   * that the model does not have and a strength that is no number. */
  place({ layer, strength }: DirectionPlace): void {
    const { shape } = this.model
    if (!(Number.isInteger(layer) && layer >= 0 && layer <= shape.num_hidden_layers))
      throw new RangeError(`layer: expected 0 to ${shape.num_hidden_layers}, got ${layer}`)
    if (!Number.isFinite(strength))
      throw new RangeError(`strength: expected a number, got ${strength}`)
    const vectors = this.#vectors
    if (!vectors) throw new RangeError('There is no direction: give two texts first.')
    const changes = strength === 0 ? [] : [steeringChange({ vectors }, layer, strength)]
    writeInterventions(this.#gpu, this.#table, shape, changes)
  }
}
