// Runs the loop around a trainer on one device, of the page and of the command line. Ends with the
// run, or with the device.
import type { StepResult } from '../../rl/train/parts/step_result.ts'
import { unsoundPart } from '../checkpoints/sound.ts'
import { BrokenNumbers, Guard } from '../protocol/guard.ts'
import {
  asksMore,
  atMoment,
  NO_OBSERVATION,
  type ObservationRequest,
} from '../protocol/observation.ts'
import type { LabEvent, RunStatus } from '../protocol/protocol.ts'
import type { LoopOf } from './base/loop_host.ts'
import { withProfiledTimes } from './base/profiled_times.ts'
import type { Orders } from './base/run_orders.ts'
import type { OpenRun, RunTrainer } from './base/session_host.ts'
import { KeptStates } from './keeping/kept_states.ts'
import { StepReports } from './step_reports.ts'

export class RunLoop {
  readonly #of: LoopOf
  readonly #orders: Orders
  readonly #open: OpenRun
  readonly #trainer: RunTrainer
  readonly #reports: StepReports
  readonly #guard = new Guard()
  readonly #states: KeptStates
  #hasEnded = false
  /** The request as the trainer last got it. */
  #told: ObservationRequest = NO_OBSERVATION
  /** The step that was told as the next that is observed. */
  #observing: number | undefined
  #isWaiting = false
  #inFlight:
    | { readonly result: Promise<StepResult>; readonly request: ObservationRequest }
    | undefined

  constructor(of: LoopOf, open: OpenRun) {
    this.#of = of
    this.#orders = of.orders
    this.#open = open
    this.#trainer = open.trainer
    this.#states = new KeptStates(of, open.trainer, {
      isBroken: () => this.#guard.broken.length > 0,
      isOver: () => this.#isOver,
    })
    const { id, host, samplesMs } = of
    const now = () => host.now()
    this.#reports = new StepReports({ id, samplesMs, now, post: (e) => this.#post(e) }, open)
  }

  /** The device is gone: what still arrives from it is ignored. */
  end(): void {
    this.#hasEnded = true
  }

  decide(id: number, choice: 'a' | 'b' | 'skip'): void {
    if (this.#trainer.decide(id, choice)) this.#reports.pairs()
    this.#orders.wake()
  }

  undoVerdict(): void {
    if (this.#trainer.undoVerdict()) this.#reports.pairs()
    this.#orders.wake()
  }

  /** Steps while there is budget. Where that is without end, the next step is queued before the
   * numbers of the last one are awaited; else each step lands before the next. Throws BrokenNumbers
   * after several steps in a row that were not finite. */
  async drive(): Promise<void> {
    const orders = this.#orders
    const trainer = this.#trainer
    this.#reports.memory()
    while (!this.#isOver) {
      if (orders.isEnding) return this.#finish()
      await this.#obey()
      if (trainer.isFinished) return this.#finish()
      if (!orders.isGoing) {
        await this.#pause()
        continue
      }
      if (!this.#isWaiting) this.#setStatus('running')
      const isReady = await trainer.ready()
      if (this.#reports.pairs_of !== trainer.phase) this.#reports.pairs()
      if (!isReady) {
        await this.#wait()
        continue
      }
      this.#isWaiting = false
      if (orders.wantsProfile) {
        await this.#land()
        orders.wantsProfile = false
        if (!this.#isOver) await this.#profile()
        continue
      }
      await this.#step()
    }
    await this.#land()
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#orders.isStopped
  }

  /** Does what is due or asked for before the next step. */
  async #obey(): Promise<void> {
    const orders = this.#orders
    const trainer = this.#trainer
    for (const action of orders.asked.splice(0)) trainer.steer(action)
    for (const done of await trainer.obey())
      this.#post({ type: 'steered', run: this.#of.id, ...done })
    await this.#of.between()
    await this.#states.keepEnd(() => this.#land())
    if (orders.wantsTrace) trainer.traceNext()
    orders.wantsTrace = false
    if (orders.request === this.#told) return
    this.#told = orders.request
    trainer.observe(this.#told)
    this.#tellObserving()
  }

  /** Which step will show what is asked for. */
  #tellObserving(): void {
    const { nextObserved } = this.#trainer
    if (nextObserved === undefined || this.#told.every <= 1) return
    if (nextObserved !== this.#observing)
      this.#post({ type: 'observing', run: this.#of.id, step: nextObserved })
    this.#observing = nextObserved
  }

  async #step(): Promise<void> {
    this.#setStatus('running')
    const { result } = await this.#trainer.queue()
    const landed = result.catch(() => {}) // awaited when it lands, or the run is over
    await this.#states.keepDue()
    await this.#land().catch((error) => landed.then(() => Promise.reject(error)))
    this.#inFlight = { result, request: this.#told }
    if (this.#orders.budget === Number.POSITIVE_INFINITY) return
    if (await this.#land()) this.#orders.budget = Math.max(0, this.#orders.budget - 1)
  }

  /** Waits for the step in flight and reports it; returns whether it was a training step. */
  async #land(): Promise<boolean> {
    const flown = this.#inFlight
    const result = await flown?.result
    this.#inFlight = undefined
    if (flown && result && !this.#isOver) this.#report(result, flown.request)
    if (result?.observation) this.#tellObserving()
    // Step 0 is none.
    return result !== undefined && result.step > 0
  }

  async #finish(): Promise<void> {
    const { keeper } = this.#of
    const { isFinished } = this.#trainer
    await this.#land()
    await this.#observePresent(atMoment(this.#told))
    this.#flush()
    // A run that is ended between broken steps is looked at, and nothing of it is kept.
    if (isFinished || this.#guard.broken.length === 0) await this.#states.keepPresent(true)
    else await this.#requireSoundPresent()
    await keeper.looked()
    this.#requireSound()
    if (isFinished) this.#setStatus('finished')
    await keeper.idle
  }

  /** Throws BrokenNumbers where the state that was taken last is not finite, whatever the steps
   * have shown. */
  #requireSound(): void {
    const { unsound } = this.#of.keeper
    if (unsound && !this.#isOver) throw this.#guard.brokenBy(unsound.step, unsound.part)
  }

  async #requireSoundPresent(): Promise<void> {
    const part = unsoundPart(await this.#trainer.exportState())
    if (part) throw this.#guard.brokenBy(this.#trainer.step, part)
  }

  async #pause(): Promise<void> {
    const orders = this.#orders
    await this.#land()
    if (orders.hasWork) return
    this.#flush()
    this.#isWaiting = false
    const isBetween = orders.takesTurns
    if (!isBetween) this.#setStatus('paused')
    await this.#observePresent()
    if (!isBetween) await this.#states.keepPresent()
    await orders.awaken(
      () =>
        orders.hasWork ||
        orders.wantsCheckpoint ||
        orders.request !== this.#told ||
        orders.takesTurns !== isBetween,
    )
  }

  /** For a person's verdicts. */
  async #wait(): Promise<void> {
    const orders = this.#orders
    const trainer = this.#trainer
    await this.#land()
    this.#reports.phase(trainer.step, trainer.takePhaseStart())
    this.#flush()
    this.#isWaiting = true
    this.#setStatus('waiting')
    const said = trainer.preferences?.log.length
    await this.#observePresent()
    await this.#states.keepPresent()
    await orders.awaken(
      () =>
        orders.request !== this.#told ||
        orders.wantsCheckpoint ||
        trainer.preferences?.log.length !== said ||
        !trainer.isWaiting ||
        orders.asked.length > 0 ||
        !orders.isGoing,
    )
  }

  /** Shows the state between two steps, unless its step has shown all that is asked for. */
  async #observePresent(request = this.#told): Promise<void> {
    const { step } = this.#trainer
    if (this.#isOver || !asksMore(request, this.#reports.askedOf(step))) return
    this.#told = request
    this.#trainer.observe(request)
    const observation = await this.#trainer.observeNow()
    if (observation && !this.#isOver) this.#reports.observation(step, observation, request)
  }

  /** One training step alone on the GPU; step 0 before it, which is none, is not measured. */
  async #profile(): Promise<void> {
    const trainer = this.#trainer
    this.#setStatus('running')
    for (;;) {
      if (!(await trainer.ready())) {
        // Measured once there is something to do.
        this.#orders.wantsProfile = true
        return
      }
      const { result, profile } = await this.#open.profile(
        async () => (await trainer.queue()).result,
      )
      if (this.#isOver) return
      this.#report(withProfiledTimes(result, profile), this.#told)
      const { step } = result
      if (step === 0 && !trainer.isFinished) continue
      const peak = await this.#of.host.peak()
      this.#post({ type: 'profile', run: this.#of.id, step, profile, peak })
      return
    }
  }

  #post(event: LabEvent): void {
    if (!this.#isOver) this.#of.post(event)
  }

  #setStatus(status: RunStatus): void {
    if (!this.#isOver) this.#of.setStatus(status)
  }

  #flush(): void {
    if (!this.#isOver) this.#reports.flush()
  }

  /** `request`: what the step was asked to show. */
  #report(result: StepResult, request: ObservationRequest): void {
    const { keeper } = this.#of
    const { step, metrics, nonFinite } = result
    this.#reports.step(result)
    const isHopeless = this.#guard.see(step, metrics, nonFinite)
    if (this.#guard.broken.length > 0) keeper.drop()
    keeper.landed(step)
    this.#reports.details(result, result.isMoment ? atMoment(request) : request)
    if (isHopeless) throw new BrokenNumbers(this.#guard.broken)
    this.#requireSound()
  }
}
