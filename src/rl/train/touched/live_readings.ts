// Reads every layer through a lens while a run trains. The lens is fitted once, on the rows of the
// step at which that is first asked for, or comes from a file of the run. Reads the weights only.

import { type Allocator, MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { OwnedTensors } from '../../../kernels/device/owned.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { TranslatedReadout } from '../../../model/layout/readout.ts'
import { jacobianLens, type Lens } from '../../../model/layout/translators.ts'
import {
  createJacobianTensors,
  JacobianFit,
  jacobianContexts,
} from '../../../model/lenses/jacobian_fit.ts'
import { createLensTensors } from '../../../model/lenses/lens.ts'
import { type LensRows, passesOf, passSize, spreadPass } from '../../../model/lenses/lens_rows.ts'
import { createCompared, LayerReader, type ReadColumns } from '../../../model/lenses/read_layers.ts'
import { createTunedTensors, TunedFit } from '../../../model/lenses/tuned_fit.ts'
import type { Model } from '../../../model/transformer/model.ts'
import { FIT } from '../../config/lens_settings.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import type { LensReading } from '../../look/observation.ts'
import { requireRoom } from '../../look/observed_parts.ts'

type Pass = Pick<LensRows, 'rows' | 'width'>

/** What reading takes, on a device or in a plan. */
function room(alloc: Allocator, shape: ModelShape, pass: Pass) {
  const { num_hidden_layers: L } = shape
  const compared = createCompared(alloc, shape, pass)
  return {
    compared,
    lens: createLensTensors(alloc, shape, L, 'lens.live'),
    reads: LayerReader.room(alloc, compared, L),
  }
}

/** What fitting takes besides. */
const fitRoom = {
  tuned: (alloc: Allocator, shape: ModelShape) =>
    createTunedTensors(alloc, shape, shape.num_hidden_layers),
  jacobian: (alloc: Allocator, shape: ModelShape, pass: Pass) =>
    createJacobianTensors(alloc, shape, pass),
}

/** What a lens is made of: a file's, or the rows of a step. */
export interface LensSource {
  readonly given?: Lens | undefined
  readonly batch: RolloutBatch
  readonly step: number
}

export class LiveReadings {
  readonly #reader: LayerReader
  readonly #memory: OwnedTensors
  readonly #pass: Pass
  readonly #origin: Pick<LensReading, 'readout' | 'fitted_after'>

  private constructor(
    reader: LayerReader,
    memory: OwnedTensors,
    pass: Pass,
    origin: Pick<LensReading, 'readout' | 'fitted_after'>,
  ) {
    this.#reader = reader
    this.#memory = memory
    this.#pass = pass
    this.#origin = origin
  }

  /** Fits the lens, unless it is given. `probeRows`: rows that are read at once at most. Throws
   * GpuError too_large, and RangeError where no text is long enough for a Jacobian. */
  static async create(
    gpu: Gpu,
    model: Model,
    probeRows: number,
    readout: TranslatedReadout,
    { given, batch, step }: LensSource,
  ): Promise<LiveReadings> {
    const { shape } = model
    const pass = passSize(probeRows, batch.input_ids.length / batch.rows)
    const plan = new MemoryPlan()
    room(plan, shape, pass)
    if (!given) fitRoom[readout](plan, shape, pass)
    requireRoom(gpu, plan)
    const memory = new OwnedTensors(gpu, 'probes')
    const fitMemory = new OwnedTensors(gpu, 'probes')
    try {
      const { compared, lens, reads: all } = room(memory, shape, pass)
      if (given) gpu.write(lens.flat, given.values)
      else if (readout === 'tuned') {
        const tensors = fitRoom.tuned(fitMemory, shape)
        const fit = await TunedFit.create(
          gpu,
          model,
          compared,
          { lr: FIT.lr, ...FIT.optimizer },
          { tensors },
        )
        fit.begin()
        await fit.run(passesOf(batch, rowsOf(batch), pass), FIT)
        gpu.copy(fit.lens.flat, lens.flat)
        // Before what it is copied from is freed.
        gpu.submit()
      } else {
        const tensors = fitRoom.jacobian(fitMemory, shape, pass)
        gpu.write(lens.flat, await fittedJacobian(gpu, model, batch, pass, tensors))
      }
      const through = { ...model, lenses: { [readout]: lens.layers } }
      const layers = Array.from({ length: shape.num_hidden_layers }, (_, layer) => layer)
      const reads = layers.map((layer) => ({ layer, readout }))
      const reader = await LayerReader.create(gpu, through, compared, reads, { all })
      const origin = { readout, ...(!given && { fitted_after: step }) }
      return new LiveReadings(reader, memory, pass, origin)
    } catch (error) {
      memory.free()
      throw error
    } finally {
      fitMemory.free()
    }
  }

  free(): void {
    this.#memory.free()
  }

  /** Means over the response tokens of these rows, under the present weights. Encodes and submits
   * before it returns. */
  async read(batch: RolloutBatch): Promise<LensReading> {
    const passes = passesOf(batch, rowsOf(batch), this.#pass)
    const read = await Promise.all(passes.map((pass) => this.#reader.columns(pass)))
    const mean = (layer: number, of: 'entropy' | 'kl') =>
      responseMean(
        batch,
        this.#pass,
        read.map((columns) => columns[layer][of]),
      )
    const [{ length }] = read
    const means = (of: 'entropy' | 'kl') => Array.from({ length }, (_, layer) => mean(layer, of))
    return { ...this.#origin, entropy: means('entropy'), kl: means('kl') }
  }
}

const rowsOf = ({ rows }: RolloutBatch) => Array.from({ length: rows }, (_, row) => row)

/** Throws RangeError where no row is long enough. */
async function fittedJacobian(
  gpu: Gpu,
  model: Model,
  batch: RolloutBatch,
  pass: Pass,
  tensors: ReturnType<typeof createJacobianTensors>,
): Promise<Float32Array> {
  const { skip_first } = FIT
  const rows = spreadPass(batch, rowsOf(batch), pass)
  const contexts = jacobianContexts(rows, skip_first)
  if (contexts === 0)
    throw new RangeError(
      `Jacobian lens: expected texts of more than ${skip_first + 1} tokens, found none`,
    )
  const fit = await JacobianFit.create(gpu, model, pass, { tensors })
  fit.begin()
  await fit.add(rows, { skip_first, contexts })
  return jacobianLens(model.shape.hidden_size, await fit.read()).values
}

/** The mean over a batch's response tokens of what stands at every column of its passes: a token's
 * policy is that of the column before it. */
function responseMean(
  { rows, response_mask }: RolloutBatch,
  { rows: perPass, width }: Pass,
  values: readonly ReadColumns['kl'][],
): number {
  const R = response_mask.length / rows
  let sum = 0
  let tokens = 0
  for (let row = 0; row < rows; row++)
    for (let t = 0; t < R; t++) {
      if (!response_mask[row * R + t]) continue
      sum += values[Math.floor(row / perPass)][(row % perPass) * width + width - R - 1 + t]
      tokens++
    }
  return sum / tokens
}
