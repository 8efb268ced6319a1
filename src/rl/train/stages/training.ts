// Declares what the steps of a run share: the device, the models, the prompts and the position of
// the run.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import type { TranslatedReadout } from '../../../model/layout/readout.ts'
import { type ActorPhase, type RlPhase, trainsActor } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import type { EntropyState } from '../../experience/adaptive_entropy.ts'
import { type RolloutBatch, spreadRows, tokenCount } from '../../experience/batch.ts'
import { type BatchRows, phaseRows, shufflesRows } from '../../learners/base/batch_rows.ts'
import type { ObservedRows } from '../../look/observation.ts'
import type { Made } from '../../look/observed_parts.ts'
import type { Observer } from '../../look/observer.ts'
import { type RowOrder, rowOrder } from '../../math/shuffle.ts'
import type { PreferenceTraining } from '../../reward/preference_training.ts'
import type { Parts } from '../parts/parts.ts'
import type { Progress } from '../parts/progress.ts'
import type { Responder } from '../responses/responder.ts'
import type { LiveParts } from '../touched/answers/live_parts.ts'
import type { LiveReadings } from '../touched/live_readings.ts'

/** A run between two steps. `Trainer` makes it; steps read and change it. */
export interface Training {
  readonly gpu: Gpu
  /** `Trainer.adopt` replaces it. */
  config: TrainerConfig
  readonly layout: ParamLayout
  readonly parts: Parts
  /** The pairs of preference phases. */
  readonly taught: PreferenceTraining
  readonly responder: Responder
  readonly observer: Observer
  /** What measures what each part does; undefined until that is asked for. */
  liveParts: Made<LiveParts> | undefined
  /** What reads every layer through a lens, as far as that was asked for. */
  readonly liveReadings: Map<TranslatedReadout, Made<LiveReadings>>
  readonly progress: Progress
  /** modelHash of the weights that the run began with; undefined where nobody has asked. */
  begunWith: string | undefined
  /** Whether the next step of reinforcement reads back what it computed of every token. */
  wantsTrace: boolean
  /** Whether the present step is looked at because of what it is (look/moments.ts). */
  isMoment: boolean
  /** Dispatches of the last step that was no moment, and its phase. */
  plainStep: { readonly phase: number; readonly dispatches: number } | undefined
  /** What the policy was trained on last, for observations. */
  seen: { readonly batch: RolloutBatch; readonly rows: ObservedRows } | undefined
  /** The numbers of the last step that was queued. */
  last: Promise<unknown> | undefined
  /** What the entropy bonus goes on from where it follows a target; undefined before the first step
   * of its phase. */
  entropy: Promise<EntropyState | undefined>
  /** Optimizer steps left out because a gradient was not finite, after the last step that was
   * queued. */
  skipped_updates: Promise<number>
}

/** How a phase cuts its batch. */
export function rowsOf({ parts, config }: Training, phase: ActorPhase): BatchRows {
  const { prompt_length, response_length } = parts.actor.size
  return phaseRows(phase, prompt_length + response_length, config.model)
}

/** The order of the rows in every epoch of the present step, where the phase shuffles them. */
export function rowOrderOf(
  { config, progress }: Training,
  { actor }: RlPhase,
  rows: number,
): RowOrder | undefined {
  return shufflesRows(actor) ? rowOrder(config.seed, progress.step, rows) : undefined
}

/** Whether the layers are measured in the present step: in the first one too, or nobody would know
 * where they began. */
export function isProbeDue({ config, progress }: Pick<Training, 'config' | 'progress'>): boolean {
  const { freq } = config.probe
  return freq !== null && (progress.step === 1 || progress.step % freq === 0)
}

/** Uploads the rows whose layer entropies are measured, when that is due; returns their response
 * tokens. */
export function uploadProbe(training: Training, batch: RolloutBatch): number {
  const { actor } = training.parts
  if (!isProbeDue(training)) return 0
  const probed = spreadRows(batch, actor.size.probeRows)
  actor.uploadProbe(probed)
  return tokenCount(probed)
}

/** Whether the present step is evaluated on held-out problems. */
export function isValidationDue({ config, progress }: Training): boolean {
  const { test_freq } = config.validation
  // A reward model leaves the policy as it is.
  if (test_freq === null || !trainsActor(progress.current)) return false
  return progress.step % test_freq === 0 || progress.phase_step === progress.current.steps
}
