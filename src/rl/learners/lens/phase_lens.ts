// The translator that a phase reads its layer through: fitted once, at the phase's first step and
// on the rows that it sampled, and kept as it is while the policy learns.
import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { LensPlace } from '../../../model/layout/readout.ts'
import { jacobianLens } from '../../../model/layout/translators.ts'
import {
  createJacobianTensors,
  JacobianFit,
  type JacobianTensors,
  jacobianContexts,
} from '../../../model/lenses/jacobian_fit.ts'
import { emptyRows, type LensRows, passSize, setRow } from '../../../model/lenses/lens_rows.ts'
import {
  type ComparedTensors,
  createCompared,
  LayerReader,
} from '../../../model/lenses/read_layers.ts'
import { createTunedTensors, TunedFit, type TunedTensors } from '../../../model/lenses/tuned_fit.ts'
import { FIT } from '../../config/lens_settings.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import type { ActorSize, ActorTensors } from '../actor_tensors.ts'

/** The translator of a phase that has fitted one. */
export interface PhaseLensState extends LensPlace {
  /** As it lies on the device (model/params/lens_tensors.ts). */
  readonly values: Float32Array
}

/** Where a phase reads through a translator; undefined where it reads without. */
export function lensPlaceOf(
  {
    target_layer: layer,
    target_readout: readout,
  }: Pick<RlPhase, 'target_layer' | 'target_readout'>,
  { num_hidden_layers }: Pick<ModelShape, 'num_hidden_layers'>,
): LensPlace | undefined {
  if (layer === num_hidden_layers || !readout || readout === 'raw' || readout === 'normed')
    return undefined
  return { layer, readout }
}

const passOf = ({ batch_rows, prompt_length, response_length }: ActorSize) =>
  passSize(batch_rows, prompt_length + response_length)

interface LensRoom {
  readonly compared: ComparedTensors
  readonly tuned: TunedTensors
  readonly jacobian: JacobianTensors
  readonly reads: ReturnType<typeof LayerReader.room>
}

interface Fits {
  readonly tuned?: TunedFit
  readonly jacobian?: JacobianFit
  readonly reader: LayerReader
}

export class PhaseLens {
  /** What the translator was fitted for; undefined before a phase has fitted it. */
  of: LensPlace | undefined
  readonly #gpu: Gpu
  readonly #tensors: ActorTensors
  readonly #room: LensRoom
  readonly #pass: { readonly rows: number; readonly width: number }
  readonly #fits = new Map<string, Fits>()

  constructor(gpu: Gpu, tensors: ActorTensors, size: ActorSize) {
    this.#gpu = gpu
    this.#tensors = tensors
    this.#pass = passOf(size)
    this.#room = PhaseLens.room(gpu, tensors.model.shape, size)
  }

  /** Everything on a device, or in a plan. */
  static room(alloc: Allocator, shape: ModelShape, size: ActorSize): LensRoom {
    const pass = passOf(size)
    const compared = createCompared(alloc, shape, pass)
    return {
      compared,
      reads: LayerReader.room(alloc, compared, 2),
      tuned: createTunedTensors(alloc, shape, 1),
      jacobian: createJacobianTensors(alloc, shape, pass, 1),
    }
  }

  /** Records what a phase needs, where that has not been done. */
  async prepare(place: LensPlace): Promise<void> {
    const key = keyOf(place)
    if (this.#fits.has(key)) return
    const { compared, tuned, jacobian, reads: all } = this.#room
    const { model } = this.#tensors
    const gpu = this.#gpu
    const layers = [place.layer]
    const optimizer = { lr: FIT.lr, ...FIT.optimizer }
    const fit =
      place.readout === 'tuned'
        ? {
            tuned: await TunedFit.create(gpu, model, compared, optimizer, {
              layers,
              tensors: tuned,
            }),
          }
        : {
            jacobian: await JacobianFit.create(gpu, model, this.#pass, {
              layers,
              tensors: jacobian,
            }),
          }
    const reads = [{ layer: place.layer, readout: 'normed' } as const, place]
    this.#fits.set(key, {
      ...fit,
      reader: await LayerReader.create(gpu, model, compared, reads, all),
    })
  }

  /** Whether the translator is the one of this place. */
  isFor(place: LensPlace): boolean {
    return this.of !== undefined && keyOf(this.of) === keyOf(place)
  }

  /** Fits the translator on these rows, `n` side by side to each prompt, but for the last quarter
   * of the prompts: KL from the final policy to the layer's over their tokens, without the
   * translator and through it, as metrics. With a single prompt nothing is held out. */
  async fit(place: LensPlace, batch: RolloutBatch, n: number): Promise<Record<string, number>> {
    const fits = this.#fits.get(keyOf(place))
    if (!fits) throw new Error('lens: this phase was not prepared')
    const prompts = batch.rows / n
    const held_out = prompts > 1 ? Math.ceil(prompts / 4) * n : 0
    const fitted = batch.rows - held_out
    const passes = this.#passes(batch, 0, fitted)
    const flat = this.#flat
    if (fits.tuned) {
      fits.tuned.begin()
      await fits.tuned.run(passes, FIT)
      this.#gpu.copy(fits.tuned.lens.flat, flat)
    } else if (fits.jacobian) {
      fits.jacobian.begin()
      // One pass of rows from all over the batch: each costs a backward for every coordinate.
      const [rows] = this.#passes(
        batch,
        0,
        fitted,
        Math.max(1, Math.floor(fitted / this.#pass.rows)),
      )
      await fits.jacobian.add(rows, {
        skip_first: FIT.skip_first,
        contexts: jacobianContexts(rows, FIT.skip_first),
      })
      const { hidden_size } = this.#tensors.model.shape
      this.#gpu.write(flat, jacobianLens(hidden_size, await fits.jacobian.read()).values)
    }
    this.of = place
    if (held_out === 0) return {}
    const measured = await fits.reader.measure(this.#passes(batch, fitted, batch.rows))
    return { 'lens/kl_before': measured[0].kl, 'lens/kl_after': measured[1].kl }
  }

  /** Copies rows [first, end), or every `stride`-th of them, into passes. */
  #passes(batch: RolloutBatch, first: number, end: number, stride = 1): LensRows[] {
    const passes: LensRows[] = []
    for (let row = first, at = 0; row < end; row += stride, at++) {
      if (at % this.#pass.rows === 0) passes.push(emptyRows(this.#pass))
      setRow(passes[passes.length - 1], at % this.#pass.rows, batch, row)
    }
    return passes
  }

  get #flat() {
    const { lens } = this.#tensors
    if (!lens) throw new Error('lens: no room was made for a translator')
    return lens
  }

  /** The translator of a phase that is on. */
  async exportState(): Promise<PhaseLensState | undefined> {
    const { of } = this
    if (!of) return undefined
    const [values] = await this.#gpu.read(this.#flat)
    return { ...of, values }
  }

  /** Throws RangeError for another size. */
  importState(state: PhaseLensState | undefined): void {
    this.of = state && { layer: state.layer, readout: state.readout }
    if (!state) return
    const [size] = this.#flat.shape
    if (state.values.length !== size)
      throw new RangeError(`state lens: expected ${size} values, got ${state.values.length}`)
    this.#gpu.write(this.#flat, state.values)
  }
}

const keyOf = ({ layer, readout }: LensPlace): string => `${readout} ${layer}`
