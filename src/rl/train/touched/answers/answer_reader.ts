// Reads the right answers to held-out problems: the log-prob of each, and the entropy of every
// layer's policy where it is written.

import type { Allocator } from '../../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../../kernels/device/gpu.ts'
import { recordInternals } from '../../../../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../../../model/internals/internals_tensors.ts'
import type { ModelShape } from '../../../../model/layout/config.ts'
import type { Model } from '../../../../model/transformer/model.ts'
import { createWorkspace } from '../../../../model/transformer/workspace.ts'
import type { LensText } from '../../../look/lens_texts.ts'
import { mean } from '../../../math/stats.ts'
import { rowsOf, type Sizes, sizesOf } from './problem_texts.ts'

const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer_norm'] as const

/** What a model says of one right answer. */
export interface ReadAnswer {
  /** Of the whole answer, nats. */
  readonly log_prob: number
  /** Of each layer, 0 to L: means over the answer's tokens, nats. */
  readonly entropies: readonly number[]
}

/** `answer`: tokens of the longest right answer. */
export interface AnswerSizes extends Sizes {
  readonly answer: number
}

export const answerSizesOf = (texts: readonly LensText[]): AnswerSizes => ({
  ...sizesOf(texts),
  answer: Math.max(...texts.map(({ ids, prompt_length }) => ids.length - prompt_length)),
})

/** Everything on a device, or in a plan. */
export const createReader = (alloc: Allocator, shape: ModelShape, size: AnswerSizes) => {
  const ws = createWorkspace(alloc, shape, { ...size, response_length: 0, trains: false })
  return createInternals(alloc, shape, ws, {
    quantities: QUANTITIES,
    positions: 'all',
    tail: size.answer + 1,
    isLastNormed: true,
  })
}

export class AnswerReader {
  /** Dispatches of one `read`. */
  readonly dispatches: number
  /** What is read at once: as many rows, padded to one width. */
  readonly size: AnswerSizes
  readonly #read: (texts: readonly LensText[]) => Promise<ReadAnswer[]>

  private constructor(
    dispatches: number,
    size: AnswerSizes,
    read: (texts: readonly LensText[]) => Promise<ReadAnswer[]>,
  ) {
    this.dispatches = dispatches
    this.size = size
    this.#read = read
  }

  /** `made`: its room, where that was made before. */
  static async create(
    gpu: Gpu,
    model: Model,
    size: AnswerSizes,
    pad: number,
    made = createReader(gpu, model.shape, size),
  ): Promise<AnswerReader> {
    const program = await gpu.record('right_answers', [], (r) => recordInternals(r, model, made))
    const last = model.shape.num_hidden_layers
    const columns = size.answer + 1
    const positions = size.rows * columns
    return new AnswerReader(program.dispatches, size, async (texts) => {
      // The last rows are filled up; what is read of the fillers is dropped.
      const filled = Array.from({ length: size.rows }, (_, b) => texts[b] ?? texts[0])
      uploadInternals(gpu, made, rowsOf(filled, size, pad))
      gpu.replay(program)
      const { values } = await readInternals(gpu, made)
      const at = (of: Float32Array, layer: number, place: number) => of[layer * positions + place]
      const entropy = (layer: number, place: number) =>
        at(layer === last ? values.ent_layer_norm : values.ent_layer_raw, layer, place)
      return texts.map(({ ids, prompt_length }, b) => {
        // Texts end in the last column.
        const begin = (b + 1) * columns - ids.length + prompt_length - 1
        const places = Array.from({ length: ids.length - prompt_length }, (_, i) => begin + i)
        return {
          log_prob: places.reduce(
            (sum, place) => sum + at(values.logp_next_layer_norm, last, place),
            0,
          ),
          entropies: Array.from({ length: last + 1 }, (_, l) =>
            mean(places.map((place) => entropy(l, place))),
          ),
        }
      })
    })
  }

  /** At most as many texts as there are rows. */
  read(texts: readonly LensText[]): Promise<ReadAnswer[]> {
    return this.#read(texts)
  }

  /** Any number of texts, in their order. */
  async readAll(texts: readonly LensText[]): Promise<ReadAnswer[]> {
    const all: ReadAnswer[] = []
    for (let first = 0; first < texts.length; first += this.size.rows)
      all.push(...(await this.read(texts.slice(first, first + this.size.rows))))
    return all
  }
}
