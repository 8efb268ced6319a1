// Reports the steps of a run as events: numbers at once, samples and memory no more often than
// somebody can follow.

import { writeVerdicts } from '../../document/experiment/fields/verdicts.ts'
import type { PhaseStart, StepResult } from '../../rl/train/parts/step_result.ts'
import {
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from '../protocol/observation.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { RolloutSample } from '../protocol/results.ts'
import type { OpenRun } from './base/session_host.ts'
import { type Seen, seenTogether } from './seen.ts'

const MEMORY_MS = 1000
/** The most responses of one step that are posted. */
const MAX_SAMPLES = 256
/** Pairs in line that are posted at a time. */
const SHOWN_PAIRS = 4

/** Where the reports of a run go. */
export interface ReportsOf {
  /** Of the run. */
  readonly id: number
  /** Milliseconds between the samples of two steps, at least; what comes in between is dropped. */
  readonly samplesMs: number
  /** Milliseconds. */
  now(): number
  post(event: LabEvent): void
}

export class StepReports {
  readonly #of: ReportsOf
  readonly #open: OpenRun
  /** The phase whose pairs were posted last. */
  pairs_of: number | undefined
  /** Of the last step that was observed. */
  #observed: Seen | undefined
  #memoryAt = Number.NEGATIVE_INFINITY
  #samplesAt = Number.NEGATIVE_INFINITY
  /** Samples of the newest step, not posted yet. */
  #held: { step: number; samples: readonly RolloutSample[] } | undefined

  constructor(of: ReportsOf, open: OpenRun) {
    this.#of = of
    this.#open = open
  }

  /** The numbers of a step, and the phase that begins with it. */
  step({ step, phase, phase_step, metrics, phase_started }: StepResult): void {
    this.phase(Math.max(0, step - 1), phase_started)
    const { id: run, now, post } = this.#of
    post({ type: 'step', run, step, phase, phase_step, metrics, at_ms: now() })
  }

  /** What else a step has left. `request`: what it was asked to show. */
  details(result: StepResult, request: ObservationRequest): void {
    const { id: run, now, post } = this.#of
    const { step, samples, scored_pairs, trace, observation, generations } = result
    // What each part does may be measured where nothing else is.
    const hasMeans = observation !== undefined && Object.keys(observation.mean).length > 0
    const asked = hasMeans ? request : { ...request, groups: [], lens: undefined }
    if (observation) this.observation(step, observation, asked)
    if (trace) post({ type: 'trace', run, step, table: trace })
    if (generations?.length) post({ type: 'generations', run, step, generations })
    if (scored_pairs?.length) post({ type: 'scored_pairs', run, step, pairs: scored_pairs })
    if (samples.length > 0) this.#held = { step, samples: samples.slice(0, MAX_SAMPLES) }
    const nowMs = now()
    if (nowMs - this.#samplesAt >= this.#of.samplesMs) this.#samples()
    if (step === 1 || nowMs - this.#memoryAt >= MEMORY_MS) this.memory()
  }

  /** A phase that begins after `step`. */
  phase(step: number, started: PhaseStart | undefined): void {
    if (started) this.#of.post({ type: 'phase', run: this.#of.id, step, ...started })
  }

  /** Together with what the same step has shown before. */
  observation(step: number, observation: Observation, request: ObservationRequest): void {
    this.#observed = seenTogether(this.#observed, { step, request, observation })
    const { observation: all } = this.#observed
    this.#of.post({ type: 'observed', run: this.#of.id, step, observation: all })
  }

  /** What has been asked of a step that was observed. */
  askedOf(step: number): ObservationRequest {
    return this.#observed?.step === step ? this.#observed.request : NO_OBSERVATION
  }

  /** The pairs of a phase that a person or a judge decides. */
  pairs(): void {
    const { phase, preferences } = this.#open.trainer
    if (!preferences) return
    this.pairs_of = phase
    const { config, pending, given, log } = preferences
    this.#of.post({
      type: 'pairs',
      run: this.#of.id,
      phase,
      pairs: pending.slice(0, SHOWN_PAIRS),
      pending: pending.length,
      given,
      min_pairs: config.source === 'human' && config.verdicts.length === 0 ? config.min_pairs : 0,
      verdicts: writeVerdicts(log),
    })
  }

  /** What the limits held back. */
  flush(): void {
    this.#samples()
    if (this.#of.now() > this.#memoryAt) this.memory()
  }

  memory(): void {
    this.#memoryAt = this.#of.now()
    const { planned_bytes, trainer } = this.#open
    const { rollout_dtype } = trainer
    this.#of.post({
      type: 'memory',
      run: this.#of.id,
      memory: this.#open.memory(),
      counts: { ...this.#open.counts },
      ...(planned_bytes !== undefined && { planned_bytes }),
      ...(rollout_dtype && { rollout_dtype }),
    })
  }

  #samples(): void {
    if (!this.#held) return
    this.#samplesAt = this.#of.now()
    this.#of.post({ type: 'samples', run: this.#of.id, ...this.#held })
    this.#held = undefined
  }
}
