// Lists the states of a run that its loop has kept: those that are due while it trains, the last of
// every phase, and the one at rest.
import { writeVerdicts } from '../../../document/experiment/fields/verdicts.ts'
import type { LoopOf } from '../base/loop_host.ts'
import type { RunTrainer } from '../base/session_host.ts'

/** The loop, as far as it matters here. */
interface LoopNow {
  /** Steps that are not finite came last: what follows them is no state to go back to. */
  isBroken(): boolean
  /** The run is over, or its device is gone. */
  isOver(): boolean
}

export class KeptStates {
  readonly #of: LoopOf
  readonly #trainer: RunTrainer
  readonly #loop: LoopNow

  constructor(of: LoopOf, trainer: RunTrainer, loop: LoopNow) {
    this.#of = of
    this.#trainer = trainer
    this.#loop = loop
  }

  /** What a person has said in the present phase, as text. */
  get #said(): string {
    return writeVerdicts(this.#trainer.preferences?.log ?? [])
  }

  get #isUsable(): boolean {
    return !this.#loop.isBroken() && !this.#loop.isOver()
  }

  #take(isEnd = false): boolean {
    const { step } = this.#trainer
    return this.#of.keeper.take(step, () => this.#trainer.exportState(), this.#said, isEnd)
  }

  /** Takes the state after the step that was queued last, where that is due or asked for. */
  async keepDue(): Promise<void> {
    const { keeper, orders } = this.#of
    const isWanted = orders.wantsCheckpoint || keeper.isDue(this.#trainer.step)
    if (!isWanted || !this.#isUsable) return
    if (keeper.isPatient) await keeper.idle
    if (this.#take()) orders.wantsCheckpoint = false
  }

  /** Takes the last state of a phase before the next one begins: what a phase has made is what
   * people go back to. `land` waits for the step in flight. */
  async keepEnd(land: () => Promise<unknown>): Promise<void> {
    const { keeper } = this.#of
    const { isPhaseOver, isFinished, step } = this.#trainer
    // The end of the run has its own.
    if (!isPhaseOver || isFinished || !keeper.isDueAtEnd(step)) return
    await land()
    await keeper.idle
    if (!this.#isUsable) return
    this.#take(true)
    keeper.landed(step)
  }

  /** Keeps the present state, between two steps, unless it is kept; soon after the last time a
   * little later. */
  async keepPresent(isLast = false): Promise<void> {
    const { keeper, orders, host } = this.#of
    const { step } = this.#trainer
    const isWanted = isLast || orders.wantsCheckpoint
    orders.wantsCheckpoint = false
    const said = this.#said
    if (this.#loop.isOver() || step === 0) return
    // The last state is looked at whatever its steps have shown: nothing else says that a run has
    // ended well.
    if (this.#loop.isBroken() && !isLast) return
    // Whether the last state must be tried again is known when the write that is under way has
    // ended.
    if (isLast) await keeper.idle
    const staleIn = keeper.staleIn(step, said, isLast)
    if (staleIn === undefined) return
    if (staleIn > 0 && !isWanted) {
      // Nothing else may happen to a run at rest: a person may have given a verdict and left.
      void host.sleep(staleIn).then(() => orders.wake())
      return
    }
    await keeper.idle
    if (this.#loop.isOver()) return
    this.#take()
    keeper.landed(this.#trainer.step)
  }
}
