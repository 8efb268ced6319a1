// Declares what a steered run needs of the engine: trainers, one at a time, and the memory that
// they take.
import type { TrainerConfig } from '../../../rl/config/trainer_config.ts'
import type { TrainerState } from '../../../rl/train/state.ts'
import type { Trainer } from '../../../rl/train/trainer.ts'

/** What is needed of a trainer. */
export type SteeredTrainer = Pick<
  Trainer,
  | 'isFinished'
  | 'isWaiting'
  | 'isPhaseOver'
  | 'phase'
  | 'phase_step'
  | 'step'
  | 'ready'
  | 'takePhaseStart'
  | 'queue'
  | 'nextPhase'
  | 'traceNext'
  | 'observe'
  | 'nextObserved'
  | 'observeNow'
  | 'preferences'
  | 'decide'
  | 'undoVerdict'
  | 'adopt'
  | 'exportState'
  | 'importState'
> &
  Partial<Pick<Trainer, 'rollout_dtype'>>

/** Where trainers come from. */
export interface Engine<T extends SteeredTrainer = SteeredTrainer> {
  /** A trainer at its first step, with room for what `state` holds where it will continue from
   * one. */
  create(config: TrainerConfig, state?: TrainerState): Promise<T>
  /** Frees all that trainers have allocated. */
  release(): void
  /** Why this configuration has no room on the device; undefined where it has. */
  refusal(config: TrainerConfig): string | undefined
}
