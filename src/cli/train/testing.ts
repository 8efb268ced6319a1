// Makes, for tests of the command line, a made-up trainer, which counts steps as the real one does
// and computes nothing, and what two runs of the same experiment have in common.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { madeState } from '../../host/checkpoints/testing.ts'
import type { Engine } from '../../host/worker/base/steered_engine.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import type { StepResult } from '../../rl/train/parts/step_result.ts'
import type { TrainerState } from '../../rl/train/state.ts'
import type { Trainer } from '../../rl/train/trainer.ts'

/** Numbers of a step that follow from the step alone. */
const metricsOf = (step: number) => ({
  'training/global_step': step,
  'critic/score/mean': 1 - 1 / (step + 1),
  ...(step % 3 === 0 && { 'val-core/made_up/acc/greedy': step / 7 }),
})

const SAMPLE = {
  prompt: '12=',
  response: '12',
  ground_truth: '12',
  score: 1,
  advantage: 0,
  response_length: 2,
  is_ended: true,
}

/** What the command line and a steered run ask of a trainer. */
class MadeUpTrainer {
  step = 0
  phase = 0
  phase_step = 0
  config: TrainerConfig
  readonly isWaiting = false
  readonly preferences = undefined
  readonly #weights: () => TrainerState
  #isStarted = false
  #ends: PhaseReason | undefined
  #began: PhaseReason | undefined = 'start'

  constructor(config: TrainerConfig, weights: () => TrainerState) {
    this.config = config
    this.#weights = weights
  }

  get phases() {
    return this.config.phases
  }
  get isPhaseOver() {
    return this.#isStarted && this.#mustEnd
  }
  get isFinished() {
    return this.phase === this.phases.length - 1 && this.isPhaseOver
  }
  get #mustEnd() {
    return this.phase_step >= this.phases[this.phase].steps || this.#ends !== undefined
  }

  async ready() {
    return true
  }
  takePhaseStart() {
    return undefined
  }
  observe() {}
  async observeNow() {
    return undefined
  }
  nextPhase(reason: PhaseReason) {
    this.#ends = reason
  }
  async adopt(changed: TrainerConfig) {
    this.config = changed
    return true
  }

  async queue() {
    if (this.#isStarted) this.#advance()
    this.#isStarted = true
    const { step, phase, phase_step } = this
    const result: StepResult = {
      step,
      phase,
      phase_step,
      metrics: metricsOf(step),
      samples: [SAMPLE],
      ...(this.#began && { phase_started: { phase, reason: this.#began } }),
    }
    this.#began = undefined
    return { result: Promise.resolve(result) }
  }

  #advance(): void {
    if (this.#mustEnd) {
      this.#began = this.#ends ?? 'steps'
      this.#ends = undefined
      this.phase++
      this.phase_step = 0
    }
    this.step++
    this.phase_step++
  }

  async exportState(): Promise<TrainerState> {
    const { step, phase, phase_step } = this
    return {
      ...this.#weights(),
      step,
      phase,
      phase_step,
      stage_step: step,
      is_started: this.#isStarted,
      ends: this.#ends ?? null,
      began: this.#began ?? null,
    }
  }
  importState(state: TrainerState) {
    this.step = state.step
    this.phase = state.phase
    this.phase_step = state.phase_step
    this.#isStarted = state.is_started
    this.#ends = state.ends ?? undefined
    this.#began = state.began ?? undefined
  }
}

/** Trainers of this experiment without a GPU. Their states have the sizes of its model. */
export function madeUpEngine(experiment: Experiment): Engine<Trainer> {
  return {
    create: async (config) =>
      new MadeUpTrainer(config, () => madeState(experiment, 0, 0)) as unknown as Trainer,
    release: () => {},
    refusal: () => undefined,
  }
}

/** A run of it from its first step. */
export const madeUpRun = (experiment: Experiment): Promise<SteeredRun<Trainer>> =>
  SteeredRun.begin(madeUpEngine(experiment), experiment)

/** Everything of a step but wall times and what they decide. */
export const numbers = ({ metrics, ...rest }: StepResult) => ({
  ...rest,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  ),
})
