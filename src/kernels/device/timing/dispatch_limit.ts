// Keeps dispatches shorter than a watchdog waits: each is measured, and one that takes too long
// runs in parts. dispatcher.ts encodes the measured dispatches and the parts; this file decides
// what to measure, and what follows from it.
//
// Watchdogs look at work that the GPU cannot interrupt: Windows resets a GPU that does not leave
// its task within 2 s, where a task may be as small as a dispatch or as large as a submit,
// depending on GPU and driver; Metal and Linux drivers end a whole command buffer after some
// seconds; and while a submit runs, many laptops do not draw the page. So both have a limit, the
// dispatch by being cut, the submit by ending before it lasts too long.
import type { Dispatch } from '../base/program.ts'
import type { Timing } from '../base/timing.ts'
import { splitKernel } from './split.ts'
import { QUERIES, Stamps } from './stamps.ts'

export interface DispatchLimits {
  /** Milliseconds of the longest kernel call that was measured, as one dispatch. */
  readonly longest_ms: number
  /** Recorded dispatches that run in parts. */
  readonly split_dispatches: number
}

export interface LimitOptions {
  /** No dispatch should take longer. */
  readonly mostMs?: number
  /** Milliseconds that count for a run of a kernel, from those that were measured: a test that
   * depends on no clock gives its own. */
  readonly took?: (kernel: string, measuredMs: number) => number
}

/** A submit that was timed from its sending to its end. */
export interface Sent {
  /** Undefined for a submit that only marks when everything before it had ended. */
  readonly timing: Timing | undefined
  /** Arithmetic and bytes: how submits share a time that is known of them together. */
  readonly weight: number
  readonly sentAt: number
  ended_at: number
}

/** A fortieth of what the shortest watchdog allows (Windows: 2 s), as other programs and a hotter
 * GPU take their part. */
const MOST_DISPATCH_MS = 50
/** Dispatches are measured in this many rounds: in the first, a kernel may have nothing to do, e.g.
 * when all rewards are equal. */
const ROUNDS = 3
/** Times that a timing is measured in one round. */
const SAMPLES = 3
/** Passes that are timed in one round at most. */
const MAX_PAIRS = QUERIES
/** Ends within this many milliseconds cannot be told apart: browsers make their clocks coarse and
 * report late. */
const SAME_END_MS = 1

/** What was measured between two calls of `learn`. */
interface Round {
  readonly stamps: Stamps<Timing> | undefined
  readonly sent: Sent[]
  readonly done: Promise<unknown>[]
  readonly started_at: number
}

export class DispatchLimit {
  readonly mostMs: number
  readonly #timings = new Map<string, Timing>()
  readonly #dispatches = new Set<Dispatch>()
  /** Of lists of dispatches that are measured no more. */
  readonly #settled = new WeakMap<readonly Dispatch[], number>()
  readonly #createQueries: (() => GPUQuerySet) | undefined
  readonly #took: (kernel: string, measuredMs: number) => number
  #round: Round | undefined
  /** There are dispatches that `learn` has not seen. */
  #hasNew = false

  /** Without `createQueries` (a set of QUERIES timestamps) every measured dispatch is a submit of
   * its own. */
  constructor(
    { mostMs = MOST_DISPATCH_MS, took = (_, ms) => ms }: LimitOptions,
    createQueries: (() => GPUQuerySet) | undefined,
  ) {
    this.mostMs = mostMs
    this.#createQueries = createQueries
    this.#took = took
  }

  get hasTimestamps(): boolean {
    return this.#createQueries !== undefined
  }

  /** A submit ends before it is expected to last longer. */
  get mostSubmitMs(): number {
    return 2 * this.mostMs
  }

  get isPending(): boolean {
    return this.#round !== undefined || this.#hasNew
  }

  /** What is known of a dispatch. The first call of each is remembered, so that it can be cut
   * later. */
  timingOf(dispatch: Dispatch): Timing {
    if (dispatch.timing) return dispatch.timing
    const { kernel, params, grid } = dispatch
    const key = `${kernel.name} ${params.join()}`
    let timing = this.#timings.get(key)
    if (!timing) {
      const mostParts = grid ? Math.max(grid[0], grid[1]) : Number.POSITIVE_INFINITY
      const none = { samples: 0, fresh: 0, rounds: 0, totalMs: 0, longest_ms: 0, parts: 1 }
      timing = { kernel, mostParts, ...none }
      this.#timings.set(key, timing)
    }
    dispatch.timing = timing
    this.#dispatches.add(dispatch)
    this.#hasNew = true
    return timing
  }

  /** Milliseconds that a dispatch is taken to need; before it was measured, one of few that share a
   * submit. */
  expected({ samples, totalMs }: Timing): number {
    return samples > 0 ? totalMs / samples : this.mostMs / 4
  }

  /** Whether the next dispatch of this timing should be measured. */
  wants({ parts, rounds, fresh }: Timing): boolean {
    const pairs = this.#round?.stamps?.pairs ?? 0
    return parts === 1 && rounds < ROUNDS && fresh < SAMPLES && pairs < MAX_PAIRS
  }

  /** Milliseconds that dispatches are taken to need together; undefined while one of them is to be
   * measured, or where one runs in parts. */
  settledMs(dispatches: readonly Dispatch[]): number | undefined {
    const known = this.#settled.get(dispatches)
    if (known !== undefined) return known
    let ms = 0
    for (const { timing } of dispatches) {
      if (!timing || timing.rounds < ROUNDS || timing.parts > 1) return undefined
      ms += this.expected(timing)
    }
    this.#settled.set(dispatches, ms)
    return ms
  }

  /** Stamps around the pass of one dispatch; undefined where submits are timed. */
  begin(timing: Timing, now = performance.now()): GPUComputePassTimestampWrites | undefined {
    timing.fresh++
    return this.#open(now).stamps?.next(timing)
  }

  /** A submit whose end `done` says: of one dispatch, or of everything before the next one. */
  sent(
    timing: Timing | undefined,
    weight: number,
    done: Promise<unknown>,
    now: () => number = () => performance.now(),
  ): void {
    const sent: Sent = { timing, weight, sentAt: now(), ended_at: Number.NaN }
    const { sent: all, done: ends } = this.#open(sent.sentAt)
    all.push(sent)
    const end = done.then(() => {
      sent.ended_at = now()
    })
    ends.push(end.catch(() => {})) // a lost device is reported elsewhere
  }

  /** Ends the round: the caller reads it back and gives it to `learn`. */
  take(): Round | undefined {
    const round = this.#round
    this.#round = undefined
    this.#hasNew = false
    return round
  }

  /** Drops all recorded dispatches and the open measurements; what was learned of their kernels
   * stays. */
  forget(): void {
    this.#round?.stamps?.destroy()
    this.#round = undefined
    this.#dispatches.clear()
    this.#hasNew = false
    for (const timing of this.#timings.values()) timing.fresh = 0
  }

  /** Learns from a round's stamps and submits. Returns the dispatches to cut into `timing.parts`
   * parts. A clock that claims more than `now` minus the round's start is not believed. */
  learn(round: Round | undefined, stamps: BigUint64Array, now = performance.now()): Dispatch[] {
    const samples: (readonly [Timing | undefined, number])[] = [
      ...(round?.stamps?.times(stamps) ?? []).map(([timing, ns]) => [timing, ns / 1e6] as const),
      ...sharedTimes(round?.sent ?? []).map((ms, i) => [round?.sent[i].timing, ms] as const),
    ]
    const elapsed = now - (round?.started_at ?? now)
    for (const [timing, measured] of samples) {
      if (!timing || !(measured <= elapsed)) continue
      const ms = this.#took(timing.kernel.name, measured)
      timing.samples++
      timing.totalMs += ms
      timing.longest_ms = Math.max(timing.longest_ms, ms)
    }
    for (const timing of this.#timings.values()) this.#judge(timing)
    return [...this.#dispatches].filter(({ timing, cut }) => !cut && (timing?.parts ?? 1) > 1)
  }

  /** What the measurements show so far. */
  get limits(): DispatchLimits {
    const longest = [...this.#timings.values()].map(({ longest_ms }) => longest_ms)
    return {
      longest_ms: longest.reduce((a, b) => Math.max(a, b), 0),
      split_dispatches: [...this.#dispatches].filter(({ cut }) => cut).length,
    }
  }

  #judge(timing: Timing): void {
    if (timing.fresh > 0) timing.rounds++
    timing.fresh = 0
    const { kernel, longest_ms, mostParts, parts } = timing
    if (parts > 1 || longest_ms <= this.mostMs || !splitKernel(kernel)) return
    // Half of what is allowed, because parts are not equally long.
    timing.parts = Math.min(mostParts, Math.ceil(longest_ms / (this.mostMs / 2)))
  }

  #open(now: number): Round {
    this.#round ??= {
      stamps: this.#createQueries && new Stamps(this.#createQueries),
      sent: [],
      done: [],
      started_at: now,
    }
    return this.#round
  }
}

/** Milliseconds of each submit, of submits in the order of their sending: from the end of the one
 * before, or its own sending, to its end. Those whose ends cannot be told apart, e.g. because the
 * thread was busy, share their time by weight. */
export function sharedTimes(submits: readonly Sent[]): number[] {
  const times: number[] = []
  let idleAt = Number.NEGATIVE_INFINITY
  for (let first = 0; first < submits.length; ) {
    let next = first + 1
    const { ended_at, sentAt, timing } = submits[first]
    // What ends with a submit that only marks a time is not part of what comes after.
    if (timing)
      while (submits[next]?.timing && submits[next].ended_at - ended_at < SAME_END_MS) next++
    const group = submits.slice(first, next)
    const end = group[group.length - 1].ended_at
    const all = group.reduce((sum, { weight }) => sum + weight, 0)
    const ms = end - Math.max(idleAt, sentAt)
    times.push(...group.map(({ weight }) => Math.max(0, (ms * weight) / all)))
    idleAt = end
    first = next
  }
  return times
}
