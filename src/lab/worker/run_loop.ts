// The loop around a trainer on one device. Ends with the run, or with the device.
import type { PhaseStart, StepResult } from '../../rl/train/step_result.ts'
import type { CheckpointKeeper } from '../checkpoints/keeper.ts'
import { writeVerdicts } from '../experiment/verdicts.ts'
import { BrokenNumbers, Guard } from '../protocol/guard.ts'
import {
  asksMore,
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from '../protocol/observation.ts'
import type { LabEvent, RunStatus } from '../protocol/protocol.ts'
import type { RolloutSample } from '../protocol/results.ts'
import type { Orders } from './run_orders.ts'
import { type Seen, seenTogether } from './seen.ts'
import type { OpenRun, RunTrainer, SessionHost } from './session_host.ts'

const SAMPLES_MS = 500
const MEMORY_MS = 1000
/** Responses of one step that cross to the page at most. */
const MAX_SAMPLES = 256
/** Pairs in line that cross to the page at a time. */
const SHOWN_PAIRS = 4

/** What the loop shares with the run that it is part of. */
export interface LoopOf {
  readonly id: number
  readonly host: Pick<SessionHost, 'now' | 'peak' | 'sleep'>
  readonly orders: Orders
  readonly keeper: CheckpointKeeper
  post(event: LabEvent): void
  setStatus(status: RunStatus): void
}

export class RunLoop {
  readonly #of: LoopOf
  readonly #orders: Orders
  readonly #open: OpenRun
  readonly #trainer: RunTrainer
  readonly #guard = new Guard()
  #has_ended = false
  /** What the trainer has been told of the request. */
  #told: ObservationRequest = NO_OBSERVATION
  /** Of the last step that was observed. */
  #observed: Seen | undefined
  #memory_at = Number.NEGATIVE_INFINITY
  #samples_at = Number.NEGATIVE_INFINITY
  /** Samples of the newest step, not posted yet. */
  #held: { step: number; samples: readonly RolloutSample[] } | undefined
  /** The phase whose pairs were posted. */
  #pairs_of: number | undefined
  #is_waiting = false
  #in_flight:
    | { readonly result: Promise<StepResult>; readonly request: ObservationRequest }
    | undefined

  constructor(of: LoopOf, open: OpenRun) {
    this.#of = of
    this.#orders = of.orders
    this.#open = open
    this.#trainer = open.trainer
  }

  /** The device is gone: whatever still comes of it says nothing. */
  end(): void {
    this.#has_ended = true
  }

  decide(id: number, choice: 'a' | 'b' | 'skip'): void {
    if (this.#trainer.decide(id, choice)) this.#reportPairs()
    this.#orders.wake()
  }

  undoVerdict(): void {
    if (this.#trainer.undoVerdict()) this.#reportPairs()
    this.#orders.wake()
  }

  /**
   * Steps while there is budget. The next step is queued before the numbers of the last one are awaited. Throws BrokenNumbers
   * after several steps in a row that were not finite.
   */
  async drive(): Promise<void> {
    const orders = this.#orders
    const trainer = this.#trainer
    this.#reportMemory()
    while (!this.#isOver) {
      for (const action of orders.asked.splice(0)) trainer.steer(action)
      for (const done of await trainer.obey())
        this.#post({ type: 'steered', run: this.#id, ...done })
      if (orders.wants_trace) trainer.traceNext()
      orders.wants_trace = false
      this.#tellRequest()
      if (trainer.isFinished) return this.#finish()
      if (!orders.is_going) {
        await this.#pause()
        continue
      }
      if (!this.#is_waiting) this.#setStatus('running')
      const is_ready = await trainer.ready()
      if (this.#pairs_of !== trainer.phase && trainer.preferences) this.#reportPairs()
      if (!is_ready) {
        await this.#wait()
        continue
      }
      this.#is_waiting = false
      if (orders.wants_profile) {
        await this.#land()
        orders.wants_profile = false
        if (!this.#isOver) await this.#profile()
        continue
      }
      await this.#step()
    }
  }

  get #id(): number {
    return this.#of.id
  }

  get #isOver(): boolean {
    return this.#has_ended || this.#orders.is_stopped
  }

  async #step(): Promise<void> {
    const { keeper } = this.#of
    const trainer = this.#trainer
    this.#setStatus('running')
    const { result } = await trainer.queue()
    result.catch(() => {}) // awaited when it lands, or the run is over
    const is_wanted = this.#orders.wants_checkpoint || keeper.isDue(trainer.step, trainer.phase)
    // What follows a broken step is no state to go back to.
    const is_sound = this.#guard.broken.length === 0
    if (
      is_wanted &&
      is_sound &&
      !this.#isOver &&
      keeper.take(trainer.step, trainer.phase, () => trainer.exportState(), this.#said)
    )
      this.#orders.wants_checkpoint = false
    await this.#land()
    this.#in_flight = { result, request: this.#told }
    if (this.#orders.budget === Number.POSITIVE_INFINITY) return
    if (await this.#land()) this.#orders.budget = Math.max(0, this.#orders.budget - 1)
  }

  /** Waits for the step in flight and tells of it; whether it was a training step. */
  async #land(): Promise<boolean> {
    const flown = this.#in_flight
    const result = await flown?.result
    this.#in_flight = undefined
    if (flown && result && !this.#isOver) this.#report(result, flown.request)
    // Step 0 is none.
    return result !== undefined && result.step > 0
  }

  async #finish(): Promise<void> {
    const { keeper } = this.#of
    await this.#land()
    await this.#observePresent()
    this.#flush()
    await this.#keepPresent(true)
    await keeper.looked()
    this.#requireSound()
    this.#setStatus('finished')
    await keeper.idle
  }

  /** Throws BrokenNumbers where the state that was taken last is not finite, whatever the steps have shown. */
  #requireSound(): void {
    const { unsound } = this.#of.keeper
    if (unsound && !this.#isOver) throw this.#guard.brokenBy(unsound.step, unsound.part)
  }

  async #pause(): Promise<void> {
    const orders = this.#orders
    await this.#land()
    if (orders.has_work) return
    this.#flush()
    this.#is_waiting = false
    const is_between = orders.takes_turns
    if (!is_between) this.#setStatus('paused')
    await this.#observePresent()
    if (!is_between) await this.#keepPresent()
    await orders.awaken(
      () =>
        orders.has_work ||
        orders.wants_checkpoint ||
        orders.request !== this.#told ||
        orders.takes_turns !== is_between,
    )
  }

  /** For a person's verdicts. */
  async #wait(): Promise<void> {
    const orders = this.#orders
    const trainer = this.#trainer
    await this.#land()
    this.#tellPhase(trainer.step, trainer.takePhaseStart())
    this.#flush()
    this.#is_waiting = true
    this.#setStatus('waiting')
    const said = trainer.preferences?.log.length
    await this.#observePresent()
    await this.#keepPresent()
    await orders.awaken(
      () =>
        orders.request !== this.#told ||
        orders.wants_checkpoint ||
        trainer.preferences?.log.length !== said ||
        !trainer.isWaiting ||
        orders.asked.length > 0 ||
        !orders.is_going,
    )
  }

  /** What a person has said in the present phase, as text. */
  get #said(): string {
    return writeVerdicts(this.#trainer.preferences?.log ?? [])
  }

  /** Keeps the present state, between two steps, unless it is kept; soon after the last time a little later. */
  async #keepPresent(is_last = false): Promise<void> {
    const { keeper } = this.#of
    const trainer = this.#trainer
    const is_wanted = is_last || this.#orders.wants_checkpoint
    this.#orders.wants_checkpoint = false
    const said = this.#said
    if (this.#isOver || trainer.step === 0) return
    // The last state is looked at whatever its steps have shown: nothing else says that a run has ended well.
    if (this.#guard.broken.length > 0 && !is_last) return
    const stale_in = keeper.staleIn(trainer.step, said)
    if (stale_in === undefined) return
    if (stale_in > 0 && !is_wanted) {
      // Nothing else may happen to a run at rest: whoever gave a verdict and left has left it here.
      void this.#of.host.sleep(stale_in).then(() => this.#orders.wake())
      return
    }
    await keeper.idle
    if (this.#isOver) return
    keeper.take(trainer.step, trainer.phase, () => trainer.exportState(), said)
    keeper.landed(trainer.step)
  }

  #tellRequest(): void {
    if (this.#orders.request === this.#told) return
    this.#told = this.#orders.request
    this.#trainer.observe(this.#told)
  }

  /** Shows the state between two steps, unless its step has shown all that is asked for. */
  async #observePresent(): Promise<void> {
    const { step } = this.#trainer
    const known = this.#observed?.step === step ? this.#observed.request : NO_OBSERVATION
    if (this.#isOver || !asksMore(this.#told, known)) return
    const observation = await this.#trainer.observeNow()
    if (observation && !this.#isOver) this.#reportObservation(step, observation, this.#told)
  }

  #reportObservation(step: number, observation: Observation, request: ObservationRequest): void {
    this.#observed = seenTogether(this.#observed, { step, request, observation })
    const { observation: all } = this.#observed
    this.#post({ type: 'observed', run: this.#id, step, observation: all })
  }

  /** One training step alone on the GPU; step 0 before it, which is none, is not measured. */
  async #profile(): Promise<void> {
    const trainer = this.#trainer
    this.#setStatus('running')
    for (;;) {
      if (!(await trainer.ready())) {
        // Measured once there is something to do.
        this.#orders.wants_profile = true
        return
      }
      const { result, profile } = await this.#open.profile(
        async () => (await trainer.queue()).result,
      )
      if (this.#isOver) return
      this.#report(result, this.#told)
      const { step } = result
      if (step === 0 && !trainer.isFinished) continue
      const peak = await this.#of.host.peak()
      this.#post({ type: 'profile', run: this.#id, step, profile, peak })
      return
    }
  }

  #post(event: LabEvent): void {
    if (!this.#isOver) this.#of.post(event)
  }

  #setStatus(status: RunStatus): void {
    if (!this.#isOver) this.#of.setStatus(status)
  }

  /** `request`: what the step was asked to show. */
  #report(result: StepResult, request: ObservationRequest): void {
    const run = this.#id
    const { step, phase, phase_step, metrics, samples, scored_pairs, trace, phase_started } = result
    const { observation, generations } = result
    this.#tellPhase(Math.max(0, step - 1), phase_started)
    this.#post({ type: 'step', run, step, phase, phase_step, metrics })
    const is_hopeless = this.#guard.see(step, metrics, result.non_finite)
    if (this.#guard.broken.length > 0) this.#of.keeper.drop()
    this.#of.keeper.landed(step)
    if (observation) this.#reportObservation(step, observation, request)
    if (trace) this.#post({ type: 'trace', run, step, table: trace })
    if (generations?.length) this.#post({ type: 'generations', run, step, generations })
    if (scored_pairs?.length) this.#post({ type: 'scored_pairs', run, step, pairs: scored_pairs })
    if (samples.length > 0) this.#held = { step, samples: samples.slice(0, MAX_SAMPLES) }
    const now = this.#of.host.now()
    if (now - this.#samples_at >= SAMPLES_MS) this.#reportSamples()
    if (step === 1 || now - this.#memory_at >= MEMORY_MS) this.#reportMemory()
    if (is_hopeless) throw new BrokenNumbers(this.#guard.broken)
    this.#requireSound()
  }

  #tellPhase(step: number, started: PhaseStart | undefined): void {
    if (started) this.#post({ type: 'phase', run: this.#id, step, ...started })
  }

  #reportPairs(): void {
    const { phase, preferences } = this.#trainer
    if (!preferences || this.#isOver) return
    this.#pairs_of = phase
    const { config, pending, given, log } = preferences
    this.#post({
      type: 'pairs',
      run: this.#id,
      phase,
      pairs: pending.slice(0, SHOWN_PAIRS),
      pending: pending.length,
      given,
      min_pairs: config.source === 'human' && config.verdicts.length === 0 ? config.min_pairs : 0,
      verdicts: writeVerdicts(log),
    })
  }

  /** What the limits held back. */
  #flush(): void {
    if (this.#isOver) return
    this.#reportSamples()
    if (this.#of.host.now() > this.#memory_at) this.#reportMemory()
  }

  #reportSamples(): void {
    if (!this.#held) return
    this.#samples_at = this.#of.host.now()
    this.#post({ type: 'samples', run: this.#id, ...this.#held })
    this.#held = undefined
  }

  #reportMemory(): void {
    this.#memory_at = this.#of.host.now()
    const { counts } = this.#open
    const { rollout_dtype } = this.#trainer
    this.#post({
      type: 'memory',
      run: this.#id,
      memory: this.#open.memory(),
      counts: { ...counts },
      ...(rollout_dtype && { rollout_dtype }),
    })
  }
}
