// Decides what follows when a run loses its GPU: when it is opened again automatically, and when
// only on a person's request.
import { BrokenNumbers } from '../protocol/guard.ts'
import { type Clock, labError, type RunDevice } from './base/session_host.ts'

/** A loss within this many milliseconds after training resumed waits for a person: browsers block a
 * GPU that crashes again and again. */
const AGAIN_MS = 60_000
/** Pauses before the first, second, … try to open the GPU again. */
const REOPEN_MS = [300, 700, 1500, 2500]
/** Errors that a lost device causes may come before the loss is reported. */
const LOSS_MS = 300

/** The loss that may be the cause of another error; undefined where there is none. */
export async function lossBehind(
  error: unknown,
  device: RunDevice | undefined,
  { sleep }: Pick<Clock, 'sleep'>,
): Promise<unknown> {
  if (!device || error instanceof BrokenNumbers) return undefined
  if (labError(error).code === 'lost') return undefined
  return Promise.race([device.lost, sleep(LOSS_MS).then(() => undefined)])
}

export class Losses {
  /** From a loss until the run trains again. */
  isRecovering = false
  /** The GPU was lost again or stayed away: dispatches are to be shorter. */
  isCareful = false
  #lostAt = Number.NEGATIVE_INFINITY
  /** Times that the GPU could not be opened again. */
  #tries = 0

  /** Takes note of a loss (`isLost`), or of a try to open the GPU that failed. */
  see(
    isLost: boolean,
    nowMs: number,
  ): { readonly is_waiting: boolean; readonly is_blocked: boolean } {
    const isAgain = isLost && nowMs - this.#lostAt < AGAIN_MS
    if (isLost) this.#lostAt = nowMs
    this.#tries = isLost ? 0 : this.#tries + 1
    this.isRecovering = true
    const is_blocked = this.#tries >= REOPEN_MS.length
    const is_waiting = isAgain || is_blocked
    if (is_waiting) {
      this.isCareful = true
      this.#tries = 0
    }
    return { is_waiting, is_blocked }
  }

  /** Before the next try, where it does not wait for a person. */
  get pauseMs(): number {
    return REOPEN_MS[this.#tries]
  }

  /** The run trains again. */
  end(nowMs: number): void {
    // Opening again may take long where shaders compile slowly: the time counts from here.
    if (this.isRecovering) this.#lostAt = nowMs
    this.isRecovering = false
  }
}
