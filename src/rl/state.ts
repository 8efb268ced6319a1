// The whole state of a training run between two steps, as plain arrays and numbers: what the next step depends on besides
// the configuration. A trainer that imports it goes on with the same bits.
import type { Gpu } from '../kernels/gpu.ts'
import type { Tensor } from '../kernels/tensor.ts'
import type { PhaseReason } from './phase.ts'
import type { TrainableTensors } from './trainable.ts'

/** A model that learns: what AdamW needs to take the next step. */
export interface ModelState {
  /** In the flat layout of model/params.ts, as are the moments. */
  readonly weights: Float32Array
  readonly adam_m: Float32Array
  readonly adam_v: Float32Array
  /** 1 - beta^t of each segment, [segments, 2]: the step counts. */
  readonly corrections: Float32Array
  /** The last optimizer step and the counters of the optimizer (CONTROL). */
  readonly control: Float32Array
}

export interface TrainerState {
  /** Index of the phase of the last step. */
  readonly phase: number
  /** Training steps done, over all phases. */
  readonly step: number
  readonly phase_step: number
  /** Steps of the phase's stage: the position of learning-rate schedules. */
  readonly stage_step: number
  /** Steps of this stage that had a critic. */
  readonly critic_step: number
  /** Whether step 0 is done. */
  readonly is_started: boolean
  /** What ends the phase before the next step, apart from its steps. */
  readonly ends: PhaseReason | null
  readonly skipped_updates: number
  /** Problems drawn so far. */
  readonly sample_index: number
  /** Mean scores of the phase's last steps, as far as its stop conditions look back. */
  readonly scores: readonly number[]
  /** Present coefficient of the KL in the reward; null where none is in use yet. */
  readonly kl_coef: number | null
  readonly actor: ModelState
  /** Weights of the frozen reference. */
  readonly reference?: Float32Array
  readonly critic?: ModelState
}

type Parts = Readonly<Record<keyof ModelState, Tensor<'f32'>>>

function partsOf({ model, m, v, corrections, control }: TrainableTensors): Parts {
  const tensors = { weights: model.weights.flat, adam_m: m, adam_v: v, corrections, control }
  return tensors as Parts
}

/** Reads a model back. */
export async function exportModel(gpu: Gpu, tensors: TrainableTensors): Promise<ModelState> {
  const { weights, adam_m, adam_v, corrections, control } = partsOf(tensors)
  const read = await gpu.read(weights, adam_m, adam_v, corrections, control)
  return {
    weights: read[0],
    adam_m: read[1],
    adam_v: read[2],
    corrections: read[3],
    control: read[4],
  }
}

/** Uploads a model. Throws RangeError naming a part of another size. */
export function importModel(
  gpu: Gpu,
  tensors: TrainableTensors,
  state: ModelState,
  model: 'actor' | 'critic',
): void {
  for (const [name, tensor] of Object.entries(partsOf(tensors)))
    importArray(gpu, tensor, state[name as keyof ModelState], `${model}.${name}`)
}

/** Uploads one array. Throws RangeError for one of another size. */
export function importArray(
  gpu: Gpu,
  tensor: Tensor<'f32'>,
  values: Float32Array,
  name: string,
): void {
  const size = tensor.shape.reduce((a, b) => a * b, 1)
  if (values.length !== size)
    throw new RangeError(`state ${name}: expected ${size} values, got ${values.length}`)
  gpu.write(tensor, values)
}
