// Keeps the position of a run: its phase, its counts of steps, why phases begin and end, and the KL
// controller of its stage.
import type { Algorithm, KlControllerConfig } from '../../config/algorithm.ts'
import { hasStop, type Phase, type PhaseReason } from '../../config/phase.ts'
import {
  continuesSchedule,
  continuesStage,
  klSettings,
  learningRate,
  scheduledOptim,
  scheduleSteps,
} from '../../config/schedule.ts'
import { plateauWindow, SCORE, stopMetrics, stopReason } from '../../config/stop.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { adoptedKl, type KlController, klController } from '../../experience/kl.ts'
import type { PhaseStart } from './step_result.ts'

/** What the CPU knows between two steps. */
export interface ProgressState {
  /** Index of the phase of the last step, or of one that has begun since and waits for a person's
   * verdicts. */
  readonly phase: number
  /** Training steps done, over all phases. */
  readonly step: number
  readonly phase_step: number
  /** Steps since the learning-rate schedule began, mostly with the phase's stage: its position. */
  readonly stage_step: number
  /** Steps of this stage that had a critic. */
  readonly critic_step: number
  /** Whether step 0 is done. */
  readonly is_started: boolean
  /** What ends the phase before the next step, apart from its steps. */
  readonly ends: PhaseReason | null
  /** Why the phase began, until a result has reported it. */
  readonly began: PhaseReason | null
  /** Mean scores of the phase's last steps, as far as its stop conditions look back. */
  readonly scores: readonly number[]
  /** Present coefficient of the KL in the reward; null where none is in use yet. */
  readonly kl_coef: number | null
  /** The phase whose pairs are drawn; null before the first. */
  readonly pairs_of: number | null
}

/** Counts steps, moves from phase to phase, and keeps what lasts for a stage. */
export class Progress {
  /** Index of the current phase. */
  phase = 0
  /** Training steps done, over all phases. */
  step = 0
  /** Steps of the current phase that are done. */
  phase_step = 0
  /** Steps of this stage that had a critic. */
  critic_step = 0
  is_started = false
  /** The phase whose pairs are drawn. */
  pairs_of: number | undefined
  #phases: readonly Phase[]
  #stageStep = 0
  /** What ends the current phase before the next step, apart from its steps. */
  #ends: PhaseReason | undefined
  /** Why the current phase began, until a result has reported it. */
  #reason: PhaseReason | undefined = 'start'
  /** Mean scores of the phase's last steps, for its stop conditions. */
  #scores: number[] = []
  #kl: KlController | undefined

  constructor(phases: readonly Phase[]) {
    this.#phases = phases
  }

  /** Continues with other phases; those that have begun keep their index. */
  adopt(phases: readonly Phase[]): void {
    const before = this.#klSettings()
    this.#phases = phases
    this.#adoptKl(before)
  }

  /** The configuration of a phase; undefined without one. */
  phaseAt(phase: number | undefined): Phase | undefined {
    return phase === undefined ? undefined : this.#phases[phase]
  }

  /** The current phase's configuration. */
  get current(): Phase {
    return this.#phases[this.phase]
  }

  get isLastPhase(): boolean {
    return this.phase === this.#phases.length - 1
  }

  /** Whether the current phase has taken its last step: all of its steps, or as many as a person or
   * a condition let it. */
  get isPhaseOver(): boolean {
    return this.is_started && (this.phase_step >= this.current.steps || this.#ends !== undefined)
  }

  /** Ends the current phase before the next step. */
  endPhase(reason: PhaseReason): void {
    this.#ends = reason
  }

  /** Why the current phase began; only once. */
  takeReason(): { phase_started?: PhaseStart } {
    const reason = this.#reason
    this.#reason = undefined
    return reason ? { phase_started: { phase: this.phase, reason } } : {}
  }

  /** Counts the next step; returns its learning rate. */
  beginStep(): number {
    this.step++
    this.phase_step++
    const totalSteps = scheduleSteps(this.#phases, this.phase)
    return learningRate(scheduledOptim(this.#phases, this.phase), this.#stageStep++, totalSteps)
  }

  /** The critic's learning rate in the step that was counted last: its schedule runs beside the
   * actor's. */
  get criticLr(): number {
    const optim = scheduledOptim(this.#phases, this.phase, 'critic')
    return learningRate(optim, this.#stageStep - 1, scheduleSteps(this.#phases, this.phase))
  }

  /** Moves to the next phase when this one is over; undefined when it is not. Throws Error where
   * there is none. */
  enterPhase(): { readonly isNewStage: boolean } | undefined {
    const isOver = this.phase_step >= this.current.steps
    if (!isOver && !this.#ends) return undefined
    if (this.isLastPhase) throw new Error('trainer: the last phase is over')
    this.#reason = this.#ends ?? 'steps'
    this.#ends = undefined
    this.#scores = []
    const kl_ctrl = klSettings(this.#phases, this.phase)
    this.phase++
    this.phase_step = 0
    const isNewStage = !continuesStage(this.#phases, this.phase)
    if (!continuesSchedule(this.#phases, this.phase)) this.#stageStep = 0
    if (!kl_ctrl || isNewStage) this.#kl = undefined
    this.#adoptKl(kl_ctrl)
    if (isNewStage) this.critic_step = 0
    return { isNewStage }
  }

  /** Ends the phase where one of its stop conditions holds after a step with these metrics; returns
   * that condition. */
  judge(
    metrics: Readonly<Record<string, number>>,
    { task, model }: Pick<TrainerConfig, 'task' | 'model'>,
  ): PhaseReason | undefined {
    const { current } = this
    if (current.kind === 'reward_model' || !hasStop(current.stop)) return undefined
    if (SCORE in metrics)
      this.#scores = [...this.#scores, metrics[SCORE]].slice(
        -Math.max(1, plateauWindow(current.stop)),
      )
    const names = stopMetrics(current, task.id, model.num_hidden_layers)
    const reason = stopReason(current.stop, names, metrics, this.#scores)
    this.#ends ??= reason
    return reason
  }

  /** The controller that a step's experience uses. One in the reward lasts for the stage. */
  klOf({ kl_ctrl, use_kl_in_reward }: Algorithm): KlController {
    const fresh = klController(kl_ctrl)
    if (use_kl_in_reward) this.#kl ??= fresh
    return this.#kl ?? fresh
  }

  /** Settings of the current phase's KL controller; those of another phase where this one has no KL
   * in the reward. */
  #klSettings(): KlControllerConfig | undefined {
    const { current } = this
    const own = current.kind === 'rl' ? current.algorithm.kl_ctrl : undefined
    return klSettings(this.#phases, this.phase) ?? own
  }

  /** The controller continues under the present settings, which were `before`. */
  #adoptKl(before: KlControllerConfig | undefined): void {
    const after = this.#klSettings()
    if (this.#kl && before && after) this.#kl = adoptedKl(this.#kl, before, after)
  }

  exportState(): ProgressState {
    return {
      phase: this.phase,
      step: this.step,
      phase_step: this.phase_step,
      stage_step: this.#stageStep,
      critic_step: this.critic_step,
      is_started: this.is_started,
      ends: this.#ends ?? null,
      began: this.#reason ?? null,
      scores: [...this.#scores],
      kl_coef: this.#kl?.value ?? null,
      pairs_of: this.pairs_of ?? null,
    }
  }

  /** Continues where a state left off; `hasCritic`: whether the state brings one, whose steps
   * count. */
  importState(state: ProgressState, hasCritic: boolean): void {
    this.phase = state.phase
    this.step = state.step
    this.phase_step = state.phase_step
    this.#stageStep = state.stage_step
    this.critic_step = hasCritic ? state.critic_step : 0
    this.is_started = state.is_started
    this.#ends = state.ends ?? undefined
    this.#reason = state.began ?? undefined
    this.#scores = [...state.scores]
    this.pairs_of = state.pairs_of ?? undefined
    const kl_ctrl = this.#klSettings()
    this.#kl =
      state.kl_coef !== null && kl_ctrl
        ? klController({ ...kl_ctrl, kl_coef: state.kl_coef })
        : undefined
  }
}
