// Keeps the recorded programs of the actor: phases that compute the same share one.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { trainedGradients } from '../../model/params/param_tensors.ts'
import { type Model, withoutAdapter } from '../../model/transformer/model.ts'
import { teacherWorkspace } from '../../model/transformer/teacher.ts'
import { sliceWorkspace, type Workspace } from '../../model/transformer/workspace.ts'
import { hasFinalEntropy } from '../config/actor.ts'
import { asksTeacher } from '../config/algorithm.ts'
import { type OtherWeights, teachesAs } from '../config/distillation.ts'
import { innerStudents, isDeeplySupervised } from '../config/inner.ts'
import type { DistillPhase, RlPhase } from '../config/phase.ts'
import { segmentFactors, type TrainedPart } from '../config/trained_segments.ts'
import { needsReference } from '../experience/experience.ts'
import type { TrainingBatch } from '../experience/training_batch.ts'
import type { ActorTensors } from './actor_tensors.ts'
import { type BatchRows, shufflesRows } from './base/batch_rows.ts'
import {
  DISTILL_LIVE,
  type DistillLive,
  recordDistill,
  recordTeacherScore,
  type Students,
} from './distilling.ts'
import { recordAlong, recordInnerOld } from './inner.ts'
import { choosesTokens, OBJECTIVE_LIVE, type Objective, objectiveOf } from './objective.ts'
import {
  type RowsLive,
  recordFinalEntropy,
  recordMixture,
  recordOld,
  recordPass,
  recordReference,
  recordSft,
  recordTrace,
  recordUpdate,
  type ScoreLive,
  type TraceLive,
  type UpdateLive,
} from './programs.ts'

/** What an update needs to know of its phase. */
export type PolicyPhase = TrainedPart &
  Pick<RlPhase, 'actor' | 'algorithm'> & {
    readonly rollout: Pick<RlPhase['rollout'], 'temperature' | 'max_response_length'>
  }

const POLICY_LIVE = ['row', 'tokens', 'inv_temperature'] as const

/** Records programs, and finds the one for a phase and a pass of `micro` rows. Throws Error for one
 * that was not recorded. */
export class ActorPrograms {
  #gpu: Gpu
  #tensors: ActorTensors
  #pass = new Map<string, Program<ScoreLive>>()
  #old = new Map<number, Program<'row'>>()
  #reference = new Map<string, Program<ScoreLive>>()
  #update = new Map<string, Program<UpdateLive>>()
  #finalEntropy = new Map<string, Program<UpdateLive>>()
  #sft = new Map<number, Program<RowsLive | 'inv_token_count'>>()
  #trace = new Map<string, Program<TraceLive>>()
  #innerOld = new Map<string, Program<ScoreLive>>()
  #teacher = new Map<number, Program<ScoreLive>>()
  #mix = new Map<'reference', Program<'alpha'>>()
  #distill = new Map<string, Program<DistillLive>>()

  constructor(gpu: Gpu, tensors: ActorTensors) {
    this.#gpu = gpu
    this.#tensors = tensors
  }

  /** Reads the rows as they were sampled, or as a phase updates on them. */
  pass(phase: PolicyPhase, micro: number, of: 'sampled' | 'updated'): Program<ScoreLive> {
    const isShuffled = of === 'updated' && shufflesRows(phase.actor)
    return prepared(this.#pass.get(passKey(phase, micro, isShuffled)))
  }

  /** Reads all `batch` rows at once, as one stream, by the kernels of passes of `micro` rows.
   * Undefined where no room was made for that, or a mini-batch takes several passes. */
  whole(phase: PolicyPhase, rows: BatchRows): Program<ScoreLive> | undefined {
    return this.#passesWhole(rows) ? prepared(this.#pass.get(wholeKey(phase, rows))) : undefined
  }

  #passesWhole({ batch, mini, micro }: BatchRows): boolean {
    return this.#tensors.batch.whole !== undefined && mini === micro && batch > micro
  }

  old(micro: number): Program<'row'> {
    return prepared(this.#old.get(micro))
  }

  reference(phase: PolicyPhase, micro: number): Program<ScoreLive> {
    return prepared(this.#reference.get(scoreKey(phase, micro)))
  }

  update(phase: PolicyPhase, micro: number): Program<UpdateLive> {
    return prepared(this.#update.get(this.#updateKey(phase, micro)))
  }

  /** What follows an update whose entropy bonus is of the whole model's policy; undefined for
   * others. */
  finalEntropy(phase: PolicyPhase, micro: number): Program<UpdateLive> | undefined {
    const key = this.#updateKey(phase, micro)
    return this.#leavesEntropy(phase) ? prepared(this.#finalEntropy.get(key)) : undefined
  }

  teacher(micro: number): Program<ScoreLive> {
    return prepared(this.#teacher.get(micro))
  }

  innerOld(phase: PolicyPhase, micro: number): Program<ScoreLive> {
    return prepared(this.#innerOld.get(innerKey(phase, micro)))
  }

  sft(micro: number): Program<RowsLive | 'inv_token_count'> {
    return prepared(this.#sft.get(micro))
  }

  distill(phase: DistillPhase, micro: number): Program<DistillLive> {
    return prepared(this.#distill.get(distillKey(phase, micro)))
  }

  trace(objective: Objective, micro: number): Program<TraceLive> {
    return prepared(this.#trace.get(traceKey(objective, micro)))
  }

  /** Mixes the reference with the policy; undefined where there is none of its own. */
  mix(): Program<'alpha'> {
    return prepared(this.#mix.get('reference'))
  }

  /** Records supervised passes of `micro` rows through all `final` blocks. */
  async prepareSft(micro: number, final: number): Promise<void> {
    const ws = this.#slice(micro)
    await this.#record(this.#sft, micro, 'sft', ['row', 'tokens', 'inv_token_count'], (r) =>
      recordSft(r, this.#tensors, ws, final),
    )
  }

  /** Records what a phase of reinforcement replays over such rows; `batch` is what its updates
   * read. */
  async prepareRl(phase: PolicyPhase, rows: BatchRows, batch: TrainingBatch): Promise<void> {
    const tensors = this.#tensors
    const { micro } = rows
    const ws = this.#slice(micro)
    const { target_layer: layer, target_readout: readout } = phase
    const reference = referenceOf(tensors)
    const key = scoreKey(phase, micro)
    const updatedBatch = { ...tensors, batch: batch.tensors }
    for (const isShuffled of shufflesRows(phase.actor) ? [false, true] : [false])
      await this.#record(
        this.#pass,
        passKey(phase, micro, isShuffled),
        'log_probs',
        POLICY_LIVE,
        (r) => recordPass(r, isShuffled ? updatedBatch : tensors, ws, { layer, readout }),
      )
    await this.#record(this.#old, micro, 'old_log_prob', ['row'], (r) => recordOld(r, tensors, ws))
    if (this.#passesWhole(rows)) await this.#prepareWhole(phase, rows)
    if (needsReference(phase) && reference)
      await this.#record(this.#reference, key, 'ref', POLICY_LIVE, (r) =>
        recordReference(r, tensors, reference, ws, { layer, readout }),
      )
    if (followsPolicy(phase) && tensors.reference) await this.#prepareMix()
    const leavesEntropy = this.#leavesEntropy(phase)
    const objective = { ...objectiveOf(phase), leavesEntropy }
    const gradients = trainedGradients(tensors.layout, tensors.gradients, this.factors(phase))
    const updated = { ...updatedBatch, gradients }
    const live = [...POLICY_LIVE, ...OBJECTIVE_LIVE, 'epoch'] as const
    const updateKey = this.#updateKey(phase, micro)
    const { inner } = phase.actor
    const place = { ws, alloc: this.#gpu }
    await this.#record(this.#update, updateKey, 'update_actor', live, (r) => {
      const learns = innerStudents(inner).length > 0
      const along = learns ? () => recordAlong(r, updated, place, objective, inner) : undefined
      recordUpdate(r, updated, ws, { layer, readout, along }, objective)
    })
    if (asksTeacher(phase))
      await this.#record(this.#teacher, micro, 'teacher', POLICY_LIVE, (r) =>
        recordTeacherScore(r, tensors, place),
      )
    if (isDeeplySupervised(inner))
      await this.#record(this.#innerOld, innerKey(phase, micro), 'old_log_prob', POLICY_LIVE, (r) =>
        recordInnerOld(r, tensors, place, inner),
      )
    if (leavesEntropy)
      await this.#record(this.#finalEntropy, updateKey, 'final_entropy', live, (r) =>
        recordFinalEntropy(r, updated, ws),
      )
    const traceLive = ['row', ...OBJECTIVE_LIVE] as const
    await this.#record(this.#trace, traceKey(objective, micro), 'trace', traceLive, (r) =>
      recordTrace(r, tensors, ws, objective),
    )
  }

  async #prepareWhole(phase: PolicyPhase, rows: BatchRows): Promise<void> {
    const { target_layer: layer, target_readout: readout } = phase
    const { batch } = this.#tensors
    const tensors = { ...this.#tensors, batch: { ...batch, ...batch.whole } }
    const ws = { ...this.#slice(rows.batch), kernelRows: rows.micro }
    await this.#record(this.#pass, wholeKey(phase, rows), 'log_probs', POLICY_LIVE, (r) =>
      recordPass(r, tensors, ws, { layer, readout }),
    )
    await this.#record(this.#old, rows.batch, 'old_log_prob', ['row'], (r) =>
      recordOld(r, tensors, ws),
    )
  }

  /** Records updates by a teacher in passes of `micro` rows. */
  async prepareDistill(phase: DistillPhase, micro: number): Promise<void> {
    const tensors = this.#tensors
    const { teacher } = phase.distillation
    const gradients = trainedGradients(tensors.layout, tensors.gradients, this.factors(phase))
    const ws = this.#slice(micro)
    const weights = teachesAs(teacher)
    const other = weights === 'final' ? undefined : prepared(this.#teacherOf(weights, ws))
    await this.#record(this.#distill, distillKey(phase, micro), 'distill', DISTILL_LIVE, (r) =>
      recordDistill(
        r,
        { ...tensors, gradients },
        { ws, alloc: this.#gpu },
        other,
        studentsOf(phase),
      ),
    )
    if (teacher === 'ema') await this.#prepareMix()
    if (imitates(phase)) await this.prepareSft(micro, phase.target_layer)
  }

  /** Another model than the policy, and where its passes run if it has room of its own. */
  #teacherOf(weights: OtherWeights, student: Workspace) {
    const model = teachingModel(this.#tensors, weights)
    const other = weights === 'model' ? this.#tensors.teacher?.other : undefined
    const ws = other && teacherWorkspace(this.#gpu, other, student)
    return model && { model, ws }
  }

  #prepareMix(): Promise<void> {
    return this.#record(this.#mix, 'reference', 'sync_ref', ['alpha'], (r) =>
      recordMixture(this.#gpu, r, this.#tensors),
    )
  }

  /** Phases with equal keys share their recorded update. */
  #updateKey(phase: PolicyPhase, micro: number): string {
    const trained = this.factors(phase)?.map((factor) => factor !== 0)
    const objective = { ...objectiveOf(phase), leavesEntropy: this.#leavesEntropy(phase) }
    const { inner } = phase.actor
    const along = innerStudents(inner).length > 0 && inner
    const key = [scoreKey(phase, micro), objective, shufflesRows(phase.actor), trained]
    return JSON.stringify([...key, along])
  }

  #leavesEntropy(phase: PolicyPhase): boolean {
    return hasFinalEntropy(phase, this.#tensors.model.shape.num_hidden_layers)
  }

  /** What the learning rate of each trained segment is multiplied by (trained_segments.ts). */
  factors(phase: TrainedPart): readonly number[] | undefined {
    const { layout, model } = this.#tensors
    return segmentFactors({ ...layout, shape: model.shape }, phase)
  }

  #slice(micro: number): Workspace {
    return sliceWorkspace(this.#gpu, this.#tensors.workspace, micro)
  }

  async #record<K, L extends string>(
    programs: Map<K, Program<L>>,
    key: K,
    label: string,
    live: readonly L[],
    build: (recorder: Recorder<L>) => void,
  ): Promise<void> {
    if (!programs.has(key)) programs.set(key, await this.#gpu.record(label, live, build))
  }
}

/** Whether the reference of a phase is mixed with the policy. */
export const followsPolicy = (phase: Pick<PolicyPhase, 'actor' | 'algorithm'>): boolean =>
  needsReference(phase) && phase.actor.sync_ref_model

/** Phases with equal keys read the same policy in passes of the same size. */
const scoreKey = ({ target_layer, target_readout = 'raw' }: PolicyPhase, micro: number): string =>
  `${target_layer}/${target_readout}/${micro}`

const wholeKey = (phase: PolicyPhase, { batch, micro }: BatchRows): string =>
  `${scoreKey(phase, micro)}/of ${batch}`

const innerKey = ({ actor }: PolicyPhase, micro: number): string =>
  `${JSON.stringify(actor.inner)}/${micro}`

const passKey = (phase: PolicyPhase, micro: number, isShuffled: boolean): string =>
  `${scoreKey(phase, micro)}${isShuffled ? '/shuffled' : ''}`

/** The frozen policy that KL is measured to: a copy of the weights, or the base of an adapter. */
function referenceOf({ model, reference }: ActorTensors): Model | undefined {
  if (model.adapter) return withoutAdapter(model)
  return reference && { ...model, weights: reference }
}

/** A model beside the policy that teaches; undefined where no room was made for it. */
export const teachingModel = (tensors: ActorTensors, weights: OtherWeights): Model | undefined =>
  weights === 'model' ? tensors.teacher?.other?.model : referenceOf(tensors)

/** Whether cross-entropy is added to the divergence of steps that do not train on own samples. */
export const imitates = ({ distillation }: Pick<DistillPhase, 'distillation'>): boolean =>
  (distillation.crossentropy_weight ?? 0) > 0 && distillation.lmbda < 1

const studentsOf = ({ target_layer, target_readout, layers }: DistillPhase): Students =>
  [target_layer, ...layers].map((layer) => ({ layer, readout: target_readout }))

const distillKey = (phase: DistillPhase, micro: number): string =>
  JSON.stringify([studentsOf(phase), teachesAs(phase.distillation.teacher), micro])

/** Losses that choose no tokens have the same trace. */
const traceKey = (objective: Objective, micro: number): string =>
  `${choosesTokens(objective) ? objective.loss_mode : ''}/${micro}`

function prepared<T>(program: T | undefined): T {
  if (!program) throw new Error('actor: this phase was not prepared')
  return program
}
