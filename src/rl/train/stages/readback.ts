// Ends a step that trains the policy: probes the layers, then reads every number of the step
// in one readback.

import type { Tensor } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ActorPhase } from '../../config/phase.ts'
import { type RolloutBatch, spreadRows, tokenCount } from '../../experience/batch.ts'
import { imitates } from '../../learners/actor_programs.ts'
import type { BatchRows } from '../../learners/base/batch_rows.ts'
import type { Critic } from '../../learners/critic.ts'
import { objectiveOf } from '../../learners/objective.ts'
import type { LayerChanges } from '../../look/layer_changes.ts'
import type { RowOrder } from '../../math/shuffle.ts'
import { computeTimingMetrics } from '../../metrics/data_metrics.ts'
import {
  actorMetrics,
  bypassMetrics,
  criticMetrics,
  distillMetrics,
  imitationMetrics,
  innerMetrics,
  layerEntropies,
  preferenceMetrics,
  sftMetrics,
  takenUpdates,
} from '../../metrics/metrics.ts'
import { brokenPlace, brokenUpdate, type NonFinite, tokenAt } from '../../metrics/nonfinite.ts'
import type { Sampler } from '../parts/sampler.ts'
import type { StepNumbers } from './taken_step.ts'
import { isValidationDue, type Training } from './training.ts'

/** What the readback needs to know of a step of the policy. */
export interface PolicyStep {
  readonly phase: ActorPhase
  readonly batch: RolloutBatch
  readonly rows: BatchRows
  readonly actorLr: number
  /** Response tokens of the probed rows; 0 when this step is not probed. */
  readonly probeTokens: number
  /** What is known of the step already. */
  readonly metrics: Record<string, number>
  /** The order of the rows in every epoch, where they were shuffled. */
  readonly order?: RowOrder | undefined
  readonly sampler?: Sampler | undefined
  readonly critic?: Critic | undefined
  readonly criticLr?: number
}

/** Numbers of the updates that are counted before the next step begins. */
interface Updates {
  readonly updates: number
  readonly criticUpdates: number
}

type Sums = Awaited<ReturnType<typeof readSums>>

/** Encodes what is measured after the updates and the readback; returns the promise of the
 * numbers. */
export function readNumbers(training: Training, step: PolicyStep): Promise<StepNumbers> {
  const { gpu, parts } = training
  const { actor } = parts
  const { batch, probeTokens, sampler, critic } = step
  gpu.stage('probe')
  if (probeTokens > 0) actor.probe()
  const changes = isValidationDue(training) ? parts.changes : undefined
  const changedTokens = changes?.measure(spreadRows(batch, actor.size.probeRows)) ?? 0
  gpu.stage('gen')
  sampler?.sumEntropy()
  const stages = gpu.resolveStages()
  const updates = {
    updates: actor.trainable.updates,
    criticUpdates: critic?.trainable.updates ?? 0,
  }
  return readSums(training, step, changes, stages?.stamps).then((sums) => ({
    ...nonFinite(training, step, updates, sums),
    metrics: {
      ...step.metrics,
      ...policyMetrics(step, updates, sums),
      ...criticNumbers(step, updates, sums),
      ...(sampler ? { 'actor/entropy': sums.entropy[0] / tokenCount(batch) } : {}),
      ...(probeTokens > 0 ? layerEntropies(sums.layer_sums, probeTokens) : {}),
      ...changes?.metrics(sums.change_sums, changedTokens),
      ...(stages && computeTimingMetrics(batch, gpuSeconds(stages.timesOf(sums.stamps)))),
    },
  }))
}

/** Readback 2. In place of a tensor that the step lacks the loss sums are read: the readback keeps
 * its size. */
async function readSums(
  { gpu, parts }: Training,
  { sampler, critic }: PolicyStep,
  changes: LayerChanges | undefined,
  stamps: Tensor<'u32'> | undefined,
) {
  const { sums, history, probe_sums, correction_sums, nonfinite, nonfinite_token } =
    parts.actor.tensors
  return readNamed(gpu, {
    loss_sums: sums,
    teacher_sums: parts.actor.tensors.teacher?.sums ?? sums,
    inner_sums: parts.actor.tensors.inner?.sums ?? sums,
    controls: history,
    layer_sums: probe_sums,
    entropy: sampler?.entropy_sum ?? sums,
    value_sums: critic?.tensors.value_sums ?? sums,
    critic_controls: critic?.tensors.history ?? history,
    corrections: correction_sums,
    change_sums: changes?.tensors.sums ?? sums,
    stamps: stamps ?? (sums as Tensor<'u32'>),
    found: nonfinite,
    tokens: nonfinite_token,
    critic_found: critic?.tensors.nonfinite ?? nonfinite,
  })
}

type Named = Readonly<Record<string, Tensor>>
type Read<T extends Named> = {
  [K in keyof T]: T[K] extends Tensor<'u32'> ? Uint32Array<ArrayBuffer> : Float32Array<ArrayBuffer>
}

/** Reads tensors back under their names, all in one readback. */
async function readNamed<T extends Named>(gpu: Gpu, tensors: T): Promise<Read<T>> {
  const arrays = await gpu.read(...Object.values(tensors))
  return Object.fromEntries(Object.keys(tensors).map((name, i) => [name, arrays[i]])) as Read<T>
}

function policyMetrics(
  { phase, batch, rows, actorLr, metrics }: PolicyStep,
  { updates }: Updates,
  { loss_sums, teacher_sums, inner_sums, controls, corrections }: Sums,
): Record<string, number> {
  if (phase.kind === 'sft') return { ...sftMetrics(loss_sums, controls), 'train/lr': actorLr }
  if (phase.kind === 'preference')
    return { ...preferenceMetrics(loss_sums, controls, tokenCount(batch)), 'actor/lr': actorLr }
  const hasImitated =
    phase.kind === 'distill' && imitates(phase) && metrics['distillation/on_policy'] === 0
  if (phase.kind === 'distill')
    return {
      ...distillMetrics(phase, loss_sums, teacher_sums, controls, tokenCount(batch)),
      ...(hasImitated && imitationMetrics(phase, loss_sums)),
      'actor/lr': actorLr,
    }
  const objective = objectiveOf(phase)
  const microBatches = (updates * rows.mini) / rows.micro
  return {
    ...actorMetrics(objective, loss_sums, controls, updates),
    ...bypassMetrics(objective, corrections, microBatches),
    ...(updates > 0 && innerMetrics(phase.actor.inner, { teacher_sums, inner_sums })),
    ...(updates > 0 && { 'actor/lr': actorLr }),
  }
}

function criticNumbers(
  { critic, criticLr }: PolicyStep,
  { criticUpdates }: Updates,
  { value_sums, critic_controls }: Sums,
): Record<string, number> {
  if (!critic || criticLr === undefined) return {}
  return {
    ...criticMetrics(value_sums, critic_controls, criticUpdates),
    ...(criticUpdates > 0 && { 'critic/lr': criticLr }),
  }
}

/** The evidence of an update that was left out, with the first token of the batch whose log-prob
 * was not finite. */
function nonFinite(
  { parts, config }: Training,
  { batch, order, critic }: PolicyStep,
  { updates, criticUpdates }: Updates,
  { controls, found, tokens, critic_controls, critic_found }: Sums,
): { readonly nonFinite?: NonFinite } {
  const broken =
    brokenUpdate('actor', parts.actor.tensors.layout, takenUpdates(controls, updates), found) ??
    (critic &&
      brokenUpdate(
        'critic',
        critic.trainable.layout,
        takenUpdates(critic_controls, criticUpdates),
        critic_found,
      ))
  if (!broken) return {}
  const index = brokenPlace(tokens, batch.response_length, order)
  const token = index === undefined ? undefined : tokenAt(batch, index, config.task.tokenizer)
  return { nonFinite: { ...broken, ...(token && { token }) } }
}

/** Seconds of the GPU by stage. Generation is timed with its readback, as verl does, where it
 * happens; so is a validation, which follows the readback: its stamps come with those of the next
 * step. */
function gpuSeconds({
  gen,
  testing,
  ...others
}: Readonly<Record<string, number>>): Record<string, number> {
  return others
}
