// Writes and reads the models of a run as named tensors, under Hugging Face's names for the
// weights, so that torch reads them too.

import { hasCritic, settingsOf } from '../../../document/experiment/schema/phase_settings.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import { readFloats } from '../../../formats/safetensors.ts'
import type { OpenSafetensors } from '../../../formats/safetensors_header.ts'
import type { WrittenTensor } from '../../../formats/safetensors_write.ts'
import { CONTROL } from '../../../kernels/optimizer/control.ts'
import { type AdapterLayout, ownAdapter } from '../../../model/layout/adapter_layout.ts'
import { bareConfig, type ModelShape, modelShape } from '../../../model/layout/config.ts'
import type { FlatLayout } from '../../../model/layout/flat_params.ts'
import { type Head, type ParamLayout, paramLayout } from '../../../model/layout/params.ts'
import type { LensPlace } from '../../../model/layout/readout.ts'
import { translatorSize, translatorValues } from '../../../model/layout/translators.ts'
import { teachesAs } from '../../../rl/config/distillation.ts'
import { readsReference } from '../../../rl/preferences/settings.ts'
import type { ModelState, ModelStates } from '../../../rl/train/state.ts'

export type NamedTensor = readonly [name: string, tensor: WrittenTensor]
export interface ShapeOf {
  readonly dtype: string
  readonly shape: readonly number[]
}
export type Shapes = ReadonlyMap<string, ShapeOf>

type Learner = 'actor' | 'critic' | 'reward_model'

/** Where the weights of a learner lie, and those of its adapter where that is trained in their
 * place. */
export interface LearnerLayout {
  readonly weights: ParamLayout
  readonly adapter?: AdapterLayout | undefined
}

/** What a learner trains. */
export const trainedLayout = ({ weights, adapter }: LearnerLayout): FlatLayout => adapter ?? weights

/** What trains in a run of an experiment, and where its weights lie. */
export interface RunModels {
  readonly learners: ReadonlyMap<Learner, LearnerLayout>
  /** Whether there can be a frozen policy that KL is measured to: kept from the beginning of
   * reinforcement, used or not. */
  readonly hasReference: boolean
  /** Whether a phase measures KL to it. */
  readonly usesReference: boolean
  /** Where the weights of another model lie that teaches. */
  readonly teacher?: ParamLayout | undefined
  /** Of a file: the translators that its phase reads layers through. */
  readonly lens?: readonly LensPlace[] | undefined
}

/** The models of a run, known from its experiment alone. */
export function runModels(experiment: Experiment): RunModels {
  const { model, teacher } = trainerConfig(experiment)
  const shape = modelShape(model)
  const whole = modelShape(bareConfig(model))
  const layout = (head: Head) => ({ weights: paramLayout(whole, head) })
  const rl = experiment.phases.filter((phase) => phase.kind === 'rl')
  const settings = rl.map((phase) => settingsOf(experiment, phase))
  const adapter = ownAdapter(shape)
  const actor = { weights: paramLayout(shape), adapter }
  const learners = new Map<Learner, LearnerLayout>([['actor', actor]])
  if (settings.some(hasCritic)) learners.set('critic', layout('value_head'))
  if (experiment.phases.some(({ kind }) => kind === 'reward_model'))
    learners.set('reward_model', layout('reward_head'))
  const distilled = experiment.phases.filter((phase) => phase.kind === 'distill')
  const averaged = distilled.filter(
    ({ distillation }) => teachesAs(distillation.teacher) === 'reference',
  )
  const preferred = experiment.phases.filter((phase) => phase.kind === 'preference')
  const usesReference =
    settings.some(({ actor, algorithm }) => actor.use_kl_loss || algorithm.use_kl_in_reward) ||
    averaged.length > 0 ||
    preferred.some(({ preference }) => readsReference(preference))
  // The reference of an adapter is its base.
  const keeps = !adapter
  return {
    learners,
    hasReference: keeps && rl.length + preferred.length + distilled.length > 0,
    usesReference: keeps && usesReference,
    teacher: teacher && paramLayout(modelShape(teacher)),
  }
}

/** The models of a file: files of version 1 hold a reference only where a phase uses it. */
export const modelsIn = (models: RunModels, { entries }: OpenSafetensors): RunModels => ({
  ...models,
  hasReference:
    models.usesReference ||
    (models.hasReference && [...entries.keys()].some((name) => name.startsWith('reference.'))),
  lens: lensIn(entries.keys(), actorLayout(models.learners).shape),
})

const LENS_NAME = /^lens\.(tuned|jacobian)\.(\d{1,3})\.residual$/
const lensNames = ({ readout, layer }: LensPlace) => {
  const name = `lens.${readout}.${layer}`
  return { residual: `${name}.residual`, bias: `${name}.bias` }
}

const lensIn = (names: Iterable<string>, shape: ModelShape): readonly LensPlace[] =>
  [...names].flatMap((name) => {
    const [, readout, layer] = LENS_NAME.exec(name) ?? []
    if (readout === undefined || !(Number(layer) < shape.num_hidden_layers)) return []
    return [{ readout: readout as LensPlace['readout'], layer: Number(layer) }]
  })

const weightName = (model: string, name: string) => `${model}.${name}`
const momentName = (model: string, moment: 'adam_m' | 'adam_v', name: string) =>
  `${model}.${moment}.${name}`

/** The dtype and shape of every tensor of these models. */
export function modelShapes({ learners, hasReference, teacher, lens }: RunModels): Shapes {
  const shapes = new Map<string, ShapeOf>()
  const add = (name: string, shape: readonly number[]) => shapes.set(name, { dtype: 'F32', shape })
  for (const [model, learner] of learners) {
    const trained = trainedLayout(learner)
    for (const { name, shape } of [...learner.weights.params, ...(learner.adapter?.params ?? [])])
      add(weightName(model, name), shape)
    for (const { name, shape } of trained.params) {
      add(momentName(model, 'adam_m', name), shape)
      add(momentName(model, 'adam_v', name), shape)
    }
    add(`${model}.corrections`, [trained.segment_ends.length, 2])
    add(`${model}.control`, [CONTROL.length])
  }
  if (hasReference)
    for (const { name, shape } of actorLayout(learners).params)
      add(weightName('reference', name), shape)
  for (const { name, shape } of teacher?.params ?? []) add(weightName('teacher', name), shape)
  for (const place of lens ?? []) {
    const { hidden_size: C } = actorLayout(learners).shape
    add(lensNames(place).residual, [C, C])
    add(lensNames(place).bias, [C])
  }
  return shapes
}

function actorLayout(learners: RunModels['learners']): ParamLayout {
  const learner = learners.get('actor')
  if (!learner) throw new RangeError('checkpoint: expected a policy')
  return learner.weights
}

/** Tensors of the models, as views. Throws RangeError where a state is not of these models. */
export function modelTensors(models: RunModels, states: ModelStates): NamedTensor[] {
  const tensors: NamedTensor[] = []
  for (const [model, learner] of models.learners) {
    const { weights: layout, adapter: own } = learner
    const trained = trainedLayout(learner)
    const state = states[model]
    if (!state) throw new RangeError(`checkpoint: expected the state of the ${model}, got none`)
    const { weights, adapter, adam_m, adam_v, corrections, control } = state
    tensors.push(...named(layout, weights, (name) => weightName(model, name)))
    if (own)
      tensors.push(...named(own, adapter ?? new Float32Array(), (name) => weightName(model, name)))
    tensors.push(...named(trained, adam_m, (name) => momentName(model, 'adam_m', name)))
    tensors.push(...named(trained, adam_v, (name) => momentName(model, 'adam_v', name)))
    const segments = trained.segment_ends.length
    tensors.push([`${model}.corrections`, { shape: [segments, 2], data: corrections }])
    tensors.push([`${model}.control`, { shape: [CONTROL.length], data: control }])
  }
  if (models.usesReference && !states.reference)
    throw new RangeError('checkpoint: expected a reference, got none')
  if (models.hasReference && states.reference) {
    const layout = actorLayout(models.learners)
    tensors.push(...named(layout, states.reference, (name) => weightName('reference', name)))
  }
  for (const lens of states.lens ?? []) {
    const { hidden_size: C } = actorLayout(models.learners).shape
    const { residual, bias } = translatorValues({ hidden_size: C, ...lens }, 0)
    const name = lensNames(lens)
    tensors.push([name.residual, { shape: [C, C], data: residual }])
    tensors.push([name.bias, { shape: [C], data: bias }])
  }
  if (models.teacher) {
    if (!states.teacher) throw new RangeError('checkpoint: expected a teacher, got none')
    tensors.push(...named(models.teacher, states.teacher, (name) => weightName('teacher', name)))
  }
  return tensors
}

/** The parameters of a flat array. What lies between them is not kept, so it must be zero. */
function named(
  { params, size }: FlatLayout,
  flat: Float32Array,
  nameOf: (param: string) => string,
): NamedTensor[] {
  if (flat.length !== size)
    throw new RangeError(`checkpoint ${nameOf('')}: expected ${size} values, got ${flat.length}`)
  let end = 0
  const requireZeros = (from: number, to: number) => {
    for (let i = from; i < to; i++)
      if (flat[i] !== 0)
        throw new RangeError(`checkpoint ${nameOf('')}: expected 0 at ${i}, got ${flat[i]}`)
  }
  const tensors = params.map(({ name, shape, offset, size: count }): NamedTensor => {
    requireZeros(end, offset)
    end = offset + count
    return [nameOf(name), { shape, data: flat.subarray(offset, end) }]
  })
  requireZeros(end, size)
  return tensors
}

/** The models of a file whose tensors have the shapes of `modelShapes`. */
export function readModels(
  { learners, hasReference, teacher, lens }: RunModels,
  file: OpenSafetensors,
): ModelStates {
  const flat = ({ params, size }: FlatLayout, nameOf: (param: string) => string) => {
    const values = new Float32Array(size)
    for (const { name, offset, size: count } of params)
      readFloats(file, nameOf(name), values.subarray(offset, offset + count))
    return values
  }
  const floats = (name: string, count: number) => {
    const values = new Float32Array(count)
    readFloats(file, name, values)
    return values
  }
  const learner = (model: Learner): ModelState | undefined => {
    const own = learners.get(model)
    if (!own) return undefined
    const trained = trainedLayout(own)
    const { weights, adapter } = own
    return {
      weights: flat(weights, (name) => weightName(model, name)),
      ...(adapter && { adapter: flat(adapter, (name) => weightName(model, name)) }),
      adam_m: flat(trained, (name) => momentName(model, 'adam_m', name)),
      adam_v: flat(trained, (name) => momentName(model, 'adam_v', name)),
      corrections: floats(`${model}.corrections`, 2 * trained.segment_ends.length),
      control: floats(`${model}.control`, CONTROL.length),
    }
  }
  const lensValues = (place: LensPlace) => {
    const { hidden_size } = actorLayout(learners).shape
    const values = new Float32Array(translatorSize(hidden_size))
    const { residual, bias } = translatorValues({ hidden_size, values }, 0)
    readFloats(file, lensNames(place).residual, residual)
    readFloats(file, lensNames(place).bias, bias)
    return values
  }
  const [actor, critic, reward_model] = (['actor', 'critic', 'reward_model'] as const).map(learner)
  if (!actor) throw new RangeError('checkpoint: expected a policy')
  return {
    actor,
    ...(hasReference && {
      reference: flat(actorLayout(learners), (name) => weightName('reference', name)),
    }),
    ...(teacher && { teacher: flat(teacher, (name) => weightName('teacher', name)) }),
    ...(critic && { critic }),
    ...(reward_model && { reward_model }),
    ...(lens?.length && {
      lens: lens.map((place) => ({ ...place, values: lensValues(place) })),
    }),
  }
}
