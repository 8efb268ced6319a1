// Makes up a trainer of two phases of 3 steps for tests; never shipped.

import type { SteeringAction, SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import type { GpuError } from '../../kernels/device/base/errors.ts'
import type { Verdict } from '../../rl/config/phase.ts'
import type { StepResult } from '../../rl/train/parts/step_result.ts'
import type { SteeredState } from '../checkpoints/file/checkpoint.ts'
import { NO_OBSERVATION, nextObserved, type ObservationRequest } from '../protocol/observation.ts'
import {
  ASKED,
  GENERATION,
  observation,
  PAIRS,
  PROFILE,
  sample,
  TRACE,
} from '../protocol/testing.ts'
import type { OpenRun, RunTrainer } from './base/session_host.ts'

const { experiment } = PRESETS[0]

/** As the device layer throws it; the class itself belongs to the GPU side. */
export const gpuError = (code: GpuError['code'], message: string): GpuError =>
  Object.assign(new Error(message), { name: 'GpuError', code })

/** Lets every message that is under way arrive, as the event loop does between two steps. */
export const tick = () => new Promise<void>((resolve) => setTimeout(resolve))

/** What a trainer does otherwise than train 6 sound steps. */
export interface Misfortunes {
  readonly failAt: number
  readonly hangAt: number
  /** Steps whose update is left out, every time that they come. */
  readonly broken: readonly number[]
  /** Steps that are evaluated, and hand their answers over. */
  readonly evaluated: readonly number[]
  /** Steps after which a weight is NaN, whatever they show. */
  readonly unsound: readonly number[]
  /** The second phase asks for two verdicts. */
  readonly asks: boolean
}

/** What a trainer shares with the lab around it. */
export interface FakeSurroundings {
  readonly log: string[]
  /** Time goes by. */
  pass(ms: number): void
  isHanging(): boolean
}

const NO_NUMBERS = {
  weights: Float32Array.of(Number.NaN),
  adam_m: new Float32Array(1),
  adam_v: new Float32Array(1),
}

class FakeTrainer implements RunTrainer {
  #step: number
  #phase: number
  #phaseStep: number
  #wantsNext = false
  #wantsTrace = false
  #request = NO_OBSERVATION
  readonly #said: Verdict[] = []
  #started: StepResult['phase_started']
  readonly #actions: SteeringAction['kind'][] = []
  readonly #of: Misfortunes
  readonly #lab: FakeSurroundings

  constructor(of: Misfortunes, lab: FakeSurroundings, state?: SteeredState) {
    this.#of = of
    this.#lab = lab
    this.#step = state?.trainer.step ?? -1
    this.#phase = state?.trainer.phase ?? 0
    this.#phaseStep = state?.trainer.phase_step ?? 0
  }

  get isFinished() {
    return this.#step >= 0 && this.#phase === 1 && (this.#phaseStep >= 3 || this.#wantsNext)
  }
  get step() {
    return Math.max(0, this.#step)
  }
  get phase() {
    return this.#phase
  }
  get isPhaseOver() {
    return this.#step >= 0 && (this.#phaseStep >= 3 || this.#wantsNext)
  }
  get isWaiting() {
    return this.#isAsking() && this.#given() < PAIRS.min_pairs
  }
  get preferences() {
    if (!this.#isAsking()) return undefined
    const pending = ASKED.slice(this.#said.length)
    return { config: PAIRS, pending, given: this.#given(), log: this.#said }
  }

  steer({ kind }: SteeringAction): void {
    this.#lab.log.push(`steer ${kind}`)
    this.#actions.push(kind)
  }

  async obey() {
    const isUntaught = this.#isAsking() && this.#phaseStep === 0
    this.#wantsNext ||= !isUntaught && this.#actions.includes('next_phase')
    return this.#actions.splice(0).map((kind) => ({
      entry: { step: this.step, kind } as SteeringEntry,
      experiment,
      steering: [],
      ...(isUntaught && kind === 'next_phase' && { refused: 'not taught' }),
    }))
  }

  async exportState(): Promise<SteeredState> {
    this.#lab.log.push(`export ${this.#step}`)
    return {
      trainer: {
        step: this.#step,
        phase: this.#phase,
        actor: { weights: new Float32Array(1) },
        phase_step: this.#phaseStep,
        began: null,
        entropy: null,
        difficulty: { level_starts: [] },
        pairs_of: null,
        ...(this.#of.unsound.includes(this.#step) && { actor: NO_NUMBERS }),
      },
      experiment,
      document: experiment,
      done: 0,
    } as unknown as SteeredState
  }

  traceNext(): void {
    this.#wantsTrace = true
  }

  observe(request: ObservationRequest): void {
    this.#request = request
    this.#lab.log.push(`observe ${request.groups}`)
  }

  get nextObserved() {
    const { groups } = this.#request
    if (groups.length === 0) return undefined
    return this.#step < 0 ? 0 : nextObserved(this.#request, this.#step)
  }

  async observeNow() {
    await tick()
    return this.#request.groups.length > 0 ? observation(this.#request) : undefined
  }

  async ready(): Promise<boolean> {
    this.#started ??= this.#enter()
    return !this.isWaiting
  }

  takePhaseStart() {
    const told = this.#started
    this.#started = undefined
    return told
  }

  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean {
    if (!this.#isAsking() || id !== this.#said.length) return false
    return this.#said.push({ choice, step: this.#phaseStep }) > 0
  }

  undoVerdict(): boolean {
    return this.#isAsking() && this.#said.pop() !== undefined
  }

  async queue() {
    const told = this.#started ?? this.#enter()
    this.#started = undefined
    this.#step++
    if (this.#step > 0) this.#phaseStep++
    if (this.#step === this.#of.failAt) throw gpuError('out_of_memory', 'no room')
    const result = this.#result(told)
    if (result.trace) this.#wantsTrace = false
    this.#lab.log.push(`queue ${this.#step}`)
    const hangs = this.#step === this.#of.hangAt && this.#lab.isHanging()
    return {
      result: tick().then(() => {
        this.#lab.pass(100)
        return hangs ? new Promise<StepResult>(() => {}) : result
      }),
    }
  }

  #result(told: StepResult['phase_started']): StepResult {
    const step = this.#step
    const { broken, evaluated } = this.#of
    return {
      step,
      phase: this.#phase,
      phase_step: this.#phaseStep,
      metrics: {
        loss: 10 - step,
        ...(broken.includes(step) && { 'training/skipped_updates': 1 }),
      },
      samples: [sample(step)],
      ...(evaluated.includes(step) && { generations: [GENERATION] }),
      ...(told ? { phase_started: told } : {}),
      // Reinforcement is the second phase.
      ...(this.#wantsTrace && this.#phase === 1 ? { trace: TRACE } : {}),
      ...(this.#request.groups.length > 0 && step % this.#request.every === 0
        ? { observation: observation(this.#request) }
        : {}),
    }
  }

  /** Begins the next phase, where the present one is over. */
  #enter(): StepResult['phase_started'] {
    if (this.#step < 0) return { phase: this.#phase, reason: 'start' }
    if (this.#phase === 1 || !(this.#phaseStep >= 3 || this.#wantsNext)) return undefined
    this.#phase++
    this.#phaseStep = 0
    const reason = this.#wantsNext ? 'next_phase' : 'steps'
    this.#wantsNext = false
    return { phase: this.#phase, reason }
  }

  #isAsking = () => this.#of.asks && this.#phase === 1
  #given = () => this.#said.filter(({ choice }) => choice !== 'skip').length
}

/** A run of that trainer. Each step takes 100 ms of the fake clock, and one turn of the event
 * loop. */
export const fakeRun = (of: Misfortunes, lab: FakeSurroundings, state?: SteeredState): OpenRun => ({
  counts: {
    buffers: 1,
    bind_groups: 0,
    pipelines: 0,
    dispatches: 0,
    submits: 0,
    reads: 0,
    wgsl_bytes: 0,
    uploaded_bytes: 0,
    live_bytes: 0,
  },
  memory: () => ({
    weights: 1,
    gradients: 0,
    optimizer: 0,
    activations: 0,
    kv_cache: 0,
    batch: 0,
    scratch: 0,
    probes: 0,
  }),
  profile: async (work) => {
    lab.log.push('profile')
    return { result: await work(), profile: PROFILE }
  },
  trainer: new FakeTrainer(of, lab, state),
})
