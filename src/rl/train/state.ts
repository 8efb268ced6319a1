// Holds the whole state of a training run between two steps, as plain arrays and numbers. A trainer
// that imports it continues with the same bits.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ParamBuffers } from '../../model/params/param_buffers.ts'
import { readParams, wholeTensor, writeParams } from '../../model/params/param_copies.ts'
import type { Phase } from '../config/phase.ts'
import type { EntropyState } from '../experience/adaptive_entropy.ts'
import type { PhaseLensState } from '../learners/lens/phase_lens.ts'
import type { TrainableTensors } from '../learners/trainable.ts'
import type { PreferencesState } from '../reward/preferences.ts'
import type { Parts } from './parts/parts.ts'
import type { ProgressState } from './parts/progress.ts'
import type { StaleBatch } from './responses/stale_samples.ts'
import type { DifficultyState } from './responses/training_data.ts'
import type { Training } from './stages/training.ts'

/** A model that learns: what AdamW needs to take the next step. */
export interface ModelState {
  /** In the flat layout of model/layout/params.ts. */
  readonly weights: Float32Array
  /** The factors of a LoRA adapter, in the layout of model/layout; then it is trained, and the
   * weights are its frozen base. */
  readonly adapter?: Float32Array
  /** In the layout of what is trained, as is adam_v. */
  readonly adam_m: Float32Array
  readonly adam_v: Float32Array
  /** 1 - beta^t of each segment, [segments, 2]: the step counts. */
  readonly corrections: Float32Array
  /** The last optimizer step and the counters of the optimizer (CONTROL). */
  readonly control: Float32Array
}

/** The models of a run. */
export interface ModelStates {
  readonly actor: ModelState
  /** Weights of the frozen reference. */
  readonly reference?: Float32Array
  /** Weights of another model that teaches, in its own layout. */
  readonly teacher?: Float32Array
  readonly critic?: ModelState
  readonly reward_model?: ModelState
  /** Of a phase that reads layers through translators, once they are fitted. */
  readonly lens?: readonly PhaseLensState[]
}

/** Everything that the next step depends on besides the configuration. */
export interface TrainerState extends ModelStates, ProgressState {
  readonly skipped_updates: number
  /** Where the entropy bonus follows a target; null before the first step of such a phase. */
  readonly entropy: EntropyState | null
  /** Problems drawn so far; with a finite set, the position in its passes (training_data.ts). */
  readonly sample_index: number
  readonly difficulty: DifficultyState
  /** The pairs of the phase that was taught by pairs last; absent before the first. */
  readonly preferences?: PreferencesState
  /** Samples that wait for the steps that train on them. */
  readonly stale?: readonly StaleBatch[]
  /** modelHash of the weights that the run began with, where lenses of files must be of them. */
  readonly begun_with?: string | undefined
}

/** Which segments a model has trained since its optimizer was new, [segments]. The others are as
 * they were then, which is when the reference was taken. */
export const trainedIn = ({ corrections }: ModelState): readonly boolean[] =>
  Array.from({ length: corrections.length / 2 }, (_, segment) => corrections[2 * segment] !== 0)

type Part = keyof ModelState
type Buffers = Readonly<Record<Exclude<Part, 'adapter'>, ParamBuffers>> & {
  readonly adapter?: ParamBuffers
}

const buffersOf = ({ model, m, v, corrections, control }: TrainableTensors): Buffers => ({
  weights: model.weights.buffers,
  ...(model.adapter && { adapter: model.adapter.buffers }),
  adam_m: m,
  adam_v: v,
  corrections: wholeTensor(corrections),
  control: wholeTensor(control),
})

/** Reads a model back. */
async function exportModel(gpu: Gpu, tensors: TrainableTensors): Promise<ModelState> {
  const buffers = Object.entries(buffersOf(tensors))
  const read = await readParams(gpu, ...buffers.map(([, own]) => own))
  return Object.fromEntries(buffers.map(([name], i) => [name, read[i]])) as unknown as ModelState
}

/** Uploads a model. Throws RangeError naming a part of another size, or an adapter that only one of
 * both has. */
function importModel(
  gpu: Gpu,
  tensors: TrainableTensors,
  state: ModelState,
  model: 'actor' | 'critic' | 'reward_model',
): void {
  const own = buffersOf(tensors)
  if (!own.adapter !== !state.adapter)
    throw new RangeError(`state ${model}.adapter: expected ${own.adapter ? 'one' : 'none'}`)
  for (const [name, buffers] of Object.entries(own))
    importArray(gpu, buffers, state[name as Part] ?? new Float32Array(), `${model}.${name}`)
}

/** Uploads one array. Throws RangeError for one of another size. */
function importArray(gpu: Gpu, buffers: ParamBuffers, values: Float32Array, name: string): void {
  if (values.length !== buffers.size)
    throw new RangeError(`state ${name}: expected ${buffers.size} values, got ${values.length}`)
  writeParams(gpu, buffers, values)
}

/** Reads all models back, as they are when this is called: every copy is submitted before it
 * returns. */
export async function exportModels(
  gpu: Gpu,
  { actor, critic, reward, lens }: Pick<Parts, 'actor' | 'critic' | 'reward' | 'lens'>,
): Promise<ModelStates> {
  const { reference, teacher } = actor.tensors
  const taughtBy = teacher?.other?.model.weights.buffers
  const [actorState, references, teachers, criticState, rewardState, lensState] = await Promise.all(
    [
      exportModel(gpu, actor.tensors),
      reference && readParams(gpu, reference.buffers),
      taughtBy && readParams(gpu, taughtBy),
      critic && exportModel(gpu, critic.tensors),
      reward && exportModel(gpu, reward.tensors),
      lens?.exportState(),
    ],
  )
  return {
    actor: actorState,
    ...(references && { reference: references[0] }),
    ...(teachers && { teacher: teachers[0] }),
    ...(criticState && { critic: criticState }),
    ...(rewardState && { reward_model: rewardState }),
    ...(lensState && { lens: lensState }),
  }
}

/** Uploads all models that there are. A reference that the state lacks is its policy. Throws
 * RangeError naming a part of another size. */
export function importModels(
  gpu: Gpu,
  { actor, critic, reward, lens }: Pick<Parts, 'actor' | 'critic' | 'reward' | 'lens'>,
  state: TrainerState,
): void {
  const { tensors } = actor
  importModel(gpu, tensors, state.actor, 'actor')
  lens?.importState(state.lens)
  if (tensors.reference && state.reference)
    importArray(gpu, tensors.reference.own, state.reference, 'reference')
  else if (tensors.reference) actor.setReference()
  if (tensors.teacher?.other && state.teacher) actor.importTeacher(state.teacher)
  if (critic && state.critic) importModel(gpu, critic.tensors, state.critic, 'critic')
  if (reward && state.reward_model)
    importModel(gpu, reward.tensors, state.reward_model, 'reward_model')
}

/** The pairs of the phase that was taught by pairs last. */
export function exportPairs({
  parts,
  progress,
  taught,
}: Pick<Training, 'parts' | 'progress' | 'taught'>): PreferencesState | undefined {
  const phase = progress.phaseAt(progress.pairs_of)
  return (phase?.kind === 'preference' ? taught : parts.reward)?.preferences?.exportState()
}

/** Continues with the pairs of a state. Throws RangeError for pairs that belong to no phase of
 * `phases` that pairs teach. */
export function importPairs(
  { parts, taught }: Pick<Training, 'parts' | 'taught'>,
  { preferences, pairs_of }: TrainerState,
  phases: readonly Phase[],
): void {
  if (!preferences) return
  const phase = phases[pairs_of ?? -1]
  if (phase?.kind === 'preference') taught.resume(phase, preferences)
  else if (phase?.kind === 'reward_model') parts.reward?.resume(phase, preferences)
  else
    throw new RangeError(
      `state pairs_of: expected the index of a reward_model or preference phase, got ${pairs_of}`,
    )
}
