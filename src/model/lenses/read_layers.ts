// Measures how far the policy of every layer is from the final one, or from another model's, read
// in any way, and how sure it is.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ModelShape } from '../layout/config.ts'
import type { Readout } from '../layout/readout.ts'
import type { Model } from '../transformer/model.ts'
import {
  createTeacher,
  type OtherTeacher,
  readStudent,
  readTeacher,
  type TeacherPass,
  type TeacherTensors,
  teacherWorkspace,
} from '../transformer/teacher.ts'
import { forward } from '../transformer/transformer.ts'
import type { Workspace } from '../transformer/workspace.ts'
import { createLensWorkspace, type LensRows, tokensIn, uploadLensRows } from './lens_rows.ts'

/** Of one layer, means over tokens, in nats. */
export interface ReadLayer {
  readonly layer: number
  readonly readout: Readout
  /** KL(final policy ‖ this one); where another model teaches, KL(its policy ‖ this one). */
  readonly kl: number
  readonly entropy: number
}

/** What comparing policies with the final one takes: a pass over `rows` texts, and the final
 * policy. */
export interface ComparedTensors {
  readonly ws: Workspace
  readonly teacher: TeacherTensors
}

/** `other`: another model that these are compared with. */
export function createCompared(
  alloc: Allocator,
  shape: ModelShape,
  size: Pick<LensRows, 'rows' | 'width'>,
  other: Pick<ModelShape, 'hidden_size'> = shape,
): ComparedTensors {
  const ws = createLensWorkspace(alloc, shape, size)
  const widest = Math.max(shape.hidden_size, other.hidden_size)
  return { ws, teacher: createTeacher(alloc, ws, widest) }
}

/** Runs the model on the uploaded rows: every layer's states, and the final policy. */
export function recordFinal<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  { ws, teacher }: ComparedTensors,
): void {
  forward(recorder, model, ws)
  readTeacher(recorder, model, ws, teacher, { inv_temperature: 1 })
}

/** Runs another model on the uploaded rows, then this one: every layer's states, and the other's
 * policy. */
function recordOther(
  recorder: Pick<Recorder<never>, 'run'>,
  gpu: Gpu,
  model: Model,
  { ws, teacher }: ComparedTensors,
  other: OtherTeacher,
): void {
  const its = teacherWorkspace(gpu, other, ws)
  forward(recorder, other.model, its)
  readTeacher(recorder, other.model, its, teacher, { inv_temperature: 1 })
  forward(recorder, model, ws)
}

/** The forward KL of a layer to the final policy, as a student's (transformer/teacher.ts). */
export const comparedPass = <L extends string>(
  teacher: Model,
  { teacher: t }: ComparedTensors,
  layer: number,
  readout: Readout,
): TeacherPass<L> => ({ layer, readout, inv_temperature: 1, teacher, t, beta: 0 })

/** Of one layer at every column, [rows, width] each; what stands at padding is no number of a
 * policy. */
export interface ReadColumns extends Pick<ReadLayer, 'layer' | 'readout'> {
  readonly kl: Float32Array
  readonly entropy: Float32Array
  /** Log-probability of the token that follows. */
  readonly logp_next: Float32Array
}

/** Measures layers under readings: one recorded program over rows of one size. */
export class LayerReader {
  readonly #gpu: Gpu
  readonly #tensors: ComparedTensors
  readonly #all: ReturnType<typeof LayerReader.room>
  readonly #program: Program<never>
  readonly #reads: readonly Pick<ReadLayer, 'layer' | 'readout'>[]

  private constructor(
    gpu: Gpu,
    tensors: ComparedTensors,
    all: ReturnType<typeof LayerReader.room>,
    program: Program<never>,
    reads: readonly Pick<ReadLayer, 'layer' | 'readout'>[],
  ) {
    this.#gpu = gpu
    this.#tensors = tensors
    this.#all = all
    this.#program = program
    this.#reads = reads
  }

  static room(alloc: Allocator, { ws }: ComparedTensors, reads: number) {
    const tokens = ws.rows * ws.width
    return {
      divergence: alloc.tensor('readings.divergence', 'f32', [reads, 4 * tokens]),
      entropy: alloc.tensor('readings.entropy', 'f32', [reads, tokens]),
      log_probs: alloc.tensor('readings.log_probs', 'f32', [reads, tokens]),
    }
  }

  /** `model` has the lenses that `reads` ask for; `all`: room that several readers share; `other`:
   * the model that layers are compared with, in place of their own final policy. */
  static async create(
    gpu: Gpu,
    model: Model,
    tensors: ComparedTensors,
    reads: readonly Pick<ReadLayer, 'layer' | 'readout'>[],
    given: {
      readonly all?: ReturnType<typeof LayerReader.room>
      readonly other?: OtherTeacher
    } = {},
  ): Promise<LayerReader> {
    const { all = LayerReader.room(gpu, tensors, reads.length), other } = given
    const { ws, teacher } = tensors
    const tokens = ws.rows * ws.width
    const program = await gpu.record('readings', [], (r) => {
      if (other) recordOther(r, gpu, model, tensors, other)
      else recordFinal(r, model, tensors)
      reads.forEach(({ layer, readout }, i) => {
        readStudent(r, model, ws, comparedPass(other?.model ?? model, tensors, layer, readout))
        r.copy(teacher.divergence, all.divergence, { toOffset: i * 4 * tokens })
        r.copy(teacher.student.entropy, all.entropy, { toOffset: i * tokens })
        r.copy(teacher.student.log_probs, all.log_probs, { toOffset: i * tokens })
      })
    })
    return new LayerReader(gpu, tensors, all, program, reads)
  }

  /** Every column of rows of the size of the workspace. */
  async columns(rows: LensRows): Promise<ReadColumns[]> {
    uploadLensRows(this.#gpu, this.#tensors.ws, rows)
    this.#gpu.replay(this.#program)
    const { divergence, entropy, log_probs } = this.#all
    const [d, h, lp] = await this.#gpu.read(divergence, entropy, log_probs)
    const count = rows.rows * rows.width
    return this.#reads.map((read, i) => {
      const own = (x: Float32Array) => x.slice(i * count, (i + 1) * count)
      const kl = Float32Array.from({ length: count }, (_, m) => d[(i * count + m) * 4 + 3])
      return { ...read, kl, entropy: own(h), logp_next: own(lp) }
    })
  }

  /** Means over all tokens of all batches. */
  async measure(batches: readonly LensRows[]): Promise<ReadLayer[]> {
    const sums = this.#reads.map(() => ({ kl: 0, entropy: 0 }))
    let tokens = 0
    for (const rows of batches) {
      const sumOf = (x: Float32Array) =>
        x.reduce((sum, value, m) => (rows.attention_mask[m] ? sum + value : sum), 0)
      for (const [i, { kl, entropy }] of (await this.columns(rows)).entries()) {
        sums[i].kl += sumOf(kl)
        sums[i].entropy += sumOf(entropy)
      }
      tokens += tokensIn(rows)
    }
    return this.#reads.map((read, i) => ({
      ...read,
      kl: sums[i].kl / tokens,
      entropy: sums[i].entropy / tokens,
    }))
  }
}
