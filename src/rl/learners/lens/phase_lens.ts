// Holds the translators that a phase reads layers through: fitted once, at the phase's first step
// and on the rows that it learns from, or given by a file, and kept as they are while the policy
// learns.
import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { LensPlace, Readout } from '../../../model/layout/readout.ts'
import { jacobianLens, type Lens, translatorSize } from '../../../model/layout/translators.ts'
import {
  createJacobianTensors,
  JacobianFit,
  type JacobianTensors,
  jacobianContexts,
} from '../../../model/lenses/jacobian_fit.ts'
import { type LensRows, passesOf, passSize, spreadPass } from '../../../model/lenses/lens_rows.ts'
import {
  type ComparedTensors,
  createCompared,
  LayerReader,
} from '../../../model/lenses/read_layers.ts'
import { createTunedTensors, TunedFit, type TunedTensors } from '../../../model/lenses/tuned_fit.ts'
import { FIT } from '../../config/lens_settings.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import { mean } from '../../math/stats.ts'
import type { ActorSize, ActorTensors } from '../actor_tensors.ts'

/** A translator that the present phase has fitted. */
export interface PhaseLensState extends LensPlace {
  /** As it lies on the device (model/params/lens_tensors.ts). */
  readonly values: Float32Array
}

const passOf = ({ batchRows, prompt_length, response_length }: ActorSize) =>
  passSize(batchRows, prompt_length + response_length)

interface LensRoom {
  readonly compared: ComparedTensors
  readonly tuned: TunedTensors
  readonly jacobian: JacobianTensors
  readonly reads: ReturnType<typeof LayerReader.room>
}

/** What fits the translators of one list of places. */
interface Fits {
  /** Those of a tuned lens, and those of a Jacobian lens. */
  readonly tuned: { readonly places: readonly LensPlace[]; readonly fit: TunedFit } | undefined
  readonly jacobian:
    | { readonly places: readonly LensPlace[]; readonly fit: JacobianFit }
    | undefined
  /** Each place without and through its translator. */
  readonly reader: LayerReader
}

/** Which rows of a batch answer the same prompt. */
export interface RowPrompts {
  readonly prompts: number
  /** From 0. */
  readonly promptOf: (row: number) => number
}

export class PhaseLens {
  /** What the translators were fitted for; empty before a phase has fitted them. */
  #places: readonly LensPlace[] = []
  readonly #gpu: Gpu
  readonly #tensors: ActorTensors
  readonly #layers: readonly number[]
  readonly #room: LensRoom
  readonly #pass: { readonly rows: number; readonly width: number }
  readonly #fits = new Map<string, Fits>()

  private constructor(gpu: Gpu, tensors: ActorTensors, size: ActorSize, room: LensRoom) {
    this.#gpu = gpu
    this.#tensors = tensors
    this.#layers = size.lensLayers ?? []
    this.#room = room
    this.#pass = passOf(size)
  }

  /** Undefined where no phase reads through a translator. */
  static create(gpu: Gpu, tensors: ActorTensors, size: ActorSize): PhaseLens | undefined {
    const room = PhaseLens.room(gpu, tensors.model.shape, size)
    return room && new PhaseLens(gpu, tensors, size, room)
  }

  /** Everything on a device, or in a plan. */
  static room(alloc: Allocator, shape: ModelShape, size: ActorSize): LensRoom | undefined {
    const { length: layers } = size.lensLayers ?? []
    if (layers === 0) return undefined
    const pass = passOf(size)
    const compared = createCompared(alloc, shape, pass)
    return {
      compared,
      reads: LayerReader.room(alloc, compared, 2 * layers),
      tuned: createTunedTensors(alloc, shape, layers),
      jacobian: createJacobianTensors(alloc, shape, pass, layers),
    }
  }

  /** Records what a phase needs that reads these places, where that has not been done. */
  async prepare(places: readonly LensPlace[]): Promise<void> {
    const key = keyOf(places)
    if (places.length === 0 || this.#fits.has(key)) return
    const { compared, tuned: tensors, jacobian: jacobians, reads: all } = this.#room
    const { model } = this.#tensors
    const gpu = this.#gpu
    const of = (readout: LensPlace['readout']) => {
      const own = places.filter((place) => place.readout === readout)
      return { places: own, layers: own.map(({ layer }) => layer) }
    }
    const [tuned, jacobian] = [of('tuned'), of('jacobian')]
    const optimizer = { lr: FIT.lr, ...FIT.optimizer }
    const reads = places.flatMap((place) => [
      { layer: place.layer, readout: 'normed' } as const,
      place,
    ])
    this.#fits.set(key, {
      tuned:
        tuned.layers.length > 0
          ? {
              places: tuned.places,
              fit: await TunedFit.create(gpu, model, compared, optimizer, {
                layers: tuned.layers,
                tensors,
              }),
            }
          : undefined,
      jacobian:
        jacobian.layers.length > 0
          ? {
              places: jacobian.places,
              fit: await JacobianFit.create(gpu, model, this.#pass, {
                layers: jacobian.layers,
                tensors: jacobians,
              }),
            }
          : undefined,
      reader: await LayerReader.create(gpu, model, compared, reads, { all }),
    })
  }

  /** Whether the translators are those of these places. */
  isFor(places: readonly LensPlace[]): boolean {
    return keyOf(this.#places) === keyOf(places)
  }

  /** Fits the translators on these rows, but for those of the last quarter of the prompts: KL from
   * the final policy to the layers' over their tokens, without translators and through them, means
   * over the layers, as metrics. With a single prompt nothing is held out. Those of `given` lenses
   * are taken as they are. */
  async fit(
    places: readonly LensPlace[],
    batch: RolloutBatch,
    { prompts, promptOf }: RowPrompts,
    given: ReadonlyMap<Readout, Lens> = new Map(),
  ): Promise<Record<string, number>> {
    const fits = this.#fits.get(keyOf(places))
    if (!fits) throw new Error('lens: this phase was not prepared')
    const fittedPrompts = prompts > 1 ? prompts - Math.ceil(prompts / 4) : prompts
    const rows = Array.from({ length: batch.rows }, (_, row) => row)
    const fitted = rows.filter((row) => promptOf(row) < fittedPrompts)
    for (const { layer, readout } of places) {
      const lens = given.get(readout)
      if (lens) this.#write(layer, lens.values.slice(layer * this.#size, (layer + 1) * this.#size))
    }
    if (fits.tuned && !given.has('tuned'))
      await this.#fitTuned(fits.tuned, passesOf(batch, fitted, this.#pass))
    // One pass: each costs a backward for every coordinate.
    if (fits.jacobian && !given.has('jacobian'))
      await this.#fitJacobian(fits.jacobian, spreadPass(batch, fitted, this.#pass))
    this.#places = places
    const heldOut = rows.filter((row) => promptOf(row) >= fittedPrompts)
    if (heldOut.length === 0) return {}
    const measured = await fits.reader.measure(passesOf(batch, heldOut, this.#pass))
    const kl = (through: 0 | 1) =>
      mean(measured.flatMap((read, i) => (i % 2 === through ? [read.kl] : [])))
    return { 'lens/kl_before': kl(0), 'lens/kl_after': kl(1) }
  }

  async #fitTuned(
    { places, fit }: NonNullable<Fits['tuned']>,
    passes: readonly LensRows[],
  ): Promise<void> {
    fit.begin()
    await fit.run(passes, FIT)
    const count = this.#size
    for (const [i, { layer }] of places.entries())
      this.#gpu.copy(fit.lens.flat, this.#flat, {
        fromOffset: i * count,
        toOffset: this.#at(layer),
        count,
      })
  }

  async #fitJacobian(
    { places, fit }: NonNullable<Fits['jacobian']>,
    rows: LensRows,
  ): Promise<void> {
    const { skip_first } = FIT
    fit.begin()
    await fit.add(rows, { skip_first, contexts: jacobianContexts(rows, skip_first) })
    const { hidden_size } = this.#tensors.model.shape
    const found = await fit.read()
    for (const [i, { layer }] of places.entries())
      this.#write(layer, jacobianLens(hidden_size, [found[i]]).values)
  }

  get #flat() {
    const { lens } = this.#tensors
    if (!lens) throw new Error('lens: no room was made for a translator')
    return lens
  }

  /** Numbers of one translator. */
  get #size(): number {
    return translatorSize(this.#tensors.model.shape.hidden_size)
  }

  /** Where a layer's translator begins. Throws RangeError for a layer that no phase reads so. */
  #at(layer: number): number {
    const slot = this.#layers.indexOf(layer)
    if (slot < 0) throw new RangeError(`state lens: no phase reads layer ${layer} through a lens`)
    return slot * this.#size
  }

  #write(layer: number, values: Float32Array): void {
    const own = this.#gpu.view(this.#flat, `lens.${layer}`, this.#at(layer), [this.#size])
    this.#gpu.write(own, values)
  }

  /** The translators of a phase that is on; undefined before they are fitted. */
  async exportState(): Promise<readonly PhaseLensState[] | undefined> {
    if (this.#places.length === 0) return undefined
    const places = this.#places
    const [values] = await this.#gpu.read(this.#flat)
    return places.map((place) => {
      const at = this.#at(place.layer)
      return { ...place, values: values.slice(at, at + this.#size) }
    })
  }

  /** Throws RangeError for another size. */
  importState(state: readonly PhaseLensState[] = []): void {
    this.#places = state.map(({ layer, readout }) => ({ layer, readout }))
    for (const { layer, values } of state) {
      if (values.length !== this.#size)
        throw new RangeError(`state lens: expected ${this.#size} values, got ${values.length}`)
      this.#write(layer, values)
    }
  }
}

const keyOf = (places: readonly LensPlace[]): string =>
  places.map(({ layer, readout }) => `${readout} ${layer}`).join()
