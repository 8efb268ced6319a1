// For tests of the command line: a made-up trainer, which counts steps as the real one does and computes nothing, and what two runs of the
// same experiment have in common.

import { madeState } from '../../lab/checkpoints/testing.ts'
import type { Experiment } from '../../lab/experiment/schema.ts'
import { type Engine, SteeredRun } from '../../lab/worker/steered_run.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import type { TrainerState } from '../../rl/train/state.ts'
import type { StepResult } from '../../rl/train/step_result.ts'
import type { Trainer } from '../../rl/train/trainer.ts'

/** Numbers of a step that follow from the step alone. */
const metricsOf = (step: number) => ({
  'training/global_step': step,
  'critic/score/mean': 1 - 1 / (step + 1),
  ...(step % 3 === 0 && { 'val-core/made_up/acc/greedy': step / 7 }),
})

const SAMPLE = {
  ...{ prompt: '12=', response: '12', ground_truth: '12' },
  ...{ score: 1, advantage: 0, response_length: 2, is_ended: true },
}

function madeUpTrainer(config: TrainerConfig, weights: () => TrainerState) {
  let [step, phase, phase_step, is_started] = [0, 0, 0, false]
  let ends: PhaseReason | undefined
  let began: PhaseReason | undefined = 'start'
  const own = {
    config,
    get phases() {
      return own.config.phases
    },
    get step() {
      return step
    },
    get phase() {
      return phase
    },
    get phase_step() {
      return phase_step
    },
    isWaiting: false,
    preferences: undefined,
    get isPhaseOver() {
      return is_started && (phase_step >= own.phases[phase].steps || ends !== undefined)
    },
    get isFinished() {
      return phase === own.phases.length - 1 && own.isPhaseOver
    },
    ready: async () => true,
    takePhaseStart: () => undefined,
    observe: () => {},
    observeNow: async () => undefined,
    nextPhase: (reason: PhaseReason) => {
      ends = reason
    },
    adopt: async (changed: TrainerConfig) => {
      own.config = changed
      return true
    },
    queue: async () => {
      if (is_started) {
        if (phase_step >= own.phases[phase].steps || ends !== undefined) {
          began = ends ?? 'steps'
          ends = undefined
          phase++
          phase_step = 0
        }
        step++
        phase_step++
      }
      is_started = true
      const result: StepResult = {
        step,
        phase,
        phase_step,
        metrics: metricsOf(step),
        samples: [SAMPLE],
        ...(began && { phase_started: { phase, reason: began } }),
      }
      began = undefined
      return { result: Promise.resolve(result) }
    },
    exportState: async (): Promise<TrainerState> => ({
      ...weights(),
      ...{ step, phase, phase_step, stage_step: step, is_started },
      ...{ ends: ends ?? null, began: began ?? null },
    }),
    importState: (state: TrainerState) => {
      step = state.step
      phase = state.phase
      phase_step = state.phase_step
      is_started = state.is_started
      ends = state.ends ?? undefined
      began = state.began ?? undefined
    },
  }
  return own
}

/** Trainers of this experiment without a GPU. Their states have the sizes of its model. */
export function madeUpEngine(experiment: Experiment): Engine<Trainer> {
  return {
    create: async (config) =>
      madeUpTrainer(config, () => madeState(experiment, 0, 0)) as unknown as Trainer,
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
