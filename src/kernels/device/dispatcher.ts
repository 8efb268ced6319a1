// Encodes dispatches: whole, in parts, or measured, as profiling, stage times and the limit of
// dispatches ask for.

import type { AnyKernel } from './base/kernel.ts'
import {
  type Cut,
  type Dispatch,
  type Grid,
  gridOf,
  type LiveValues,
  readParams,
} from './base/program.ts'
import type { Commands } from './commands.ts'
import type { OpenDevice } from './open_device.ts'
import { costOf } from './timing/cost.ts'
import type { DispatchLimit } from './timing/dispatch_limit.ts'
import type { Recording } from './timing/profiler.ts'
import { parts, setPart } from './timing/split.ts'
import type { StageClock } from './timing/stage_clock.ts'

export class Dispatcher {
  /** Set while a profile is taken. */
  recording: Recording | undefined
  /** Set where dispatches are limited. */
  limit: DispatchLimit | undefined
  /** Times the stages of every step, where the adapter can. */
  clock: StageClock | undefined
  readonly #open: OpenDevice
  readonly #commands: Commands
  /** Milliseconds that the open submit is expected to take, where dispatches are limited. */
  #queuedMs = 0
  /** Submits when the limit last timed one. */
  #timedSubmits = -1

  constructor(open: OpenDevice, commands: Commands) {
    this.#open = open
    this.#commands = commands
  }

  /** Sends everything encoded so far to the GPU. Throws the first error WebGPU reported since. */
  submit(): void {
    this.#open.throwFailure()
    if (!this.#commands.is_open) return
    this.#endStage()
    this.#commands.submit()
    if (this.recording?.hasTimestamps === false) this.recording.submitted(this.done())
    this.#queuedMs = 0
  }

  /** Resolves when the GPU has finished everything submitted. */
  done(): Promise<undefined> {
    return this.#open.device.queue.onSubmittedWorkDone()
  }

  /** Dispatches from now on belong to this stage, for a profile and for the clock. */
  enterStage(name: string): void {
    this.#endStage()
    this.clock?.enter(name)
    if (!this.recording) return
    if (!this.recording.hasTimestamps) this.submit()
    this.recording.enter(name)
  }

  /** Encodes a dispatch of a bound program with these live values. */
  dispatch(dispatch: Dispatch, live: LiveValues<string>): void {
    const { kernel, cut } = dispatch
    const limit = this.limit
    const timing = limit?.timingOf(dispatch)
    const expectedMs = timing && limit ? limit.expected(timing) : 0
    if (cut) return this.#dispatchParts(dispatch, cut, live, expectedMs)
    if (limit && timing && !this.recording && limit.wants(timing))
      return this.#measure(limit, dispatch, live)
    const slot = this.#takeSlot(dispatch, live, expectedMs)
    const pass = this.recording
      ? this.#timedPass(this.recording, kernel, slot)
      : this.#commands.pass()
    encode(pass, dispatch, slot, gridOf(dispatch, this.#commands.params, slot))
  }

  #endStage(): void {
    if (this.clock?.is_open) this.clock.end(this.#commands.encoder())
  }

  #dispatchParts(dispatch: Dispatch, cut: Cut, live: LiveValues<string>, expectedMs: number): void {
    const partMs = expectedMs / cut.parts
    const view = this.#commands.params
    let slot = this.#takeSlot(dispatch, live, partMs)
    const whole = gridOf(dispatch, view, slot)
    parts(whole, cut.parts).forEach((part, i) => {
      if (i > 0) slot = this.#takeSlot(dispatch, live, partMs)
      setPart(view, slot + dispatch.params.byteLength, part, whole)
      const recording = this.recording
      const pass = recording
        ? this.#timedPass(recording, dispatch.kernel, slot, i === 0)
        : this.#commands.pass()
      encode(pass, cut, slot, part.grid)
    })
  }

  /** One dispatch between two timestamps, or, without a clock, in a submit of its own. */
  #measure(limit: DispatchLimit, dispatch: Dispatch, live: LiveValues<string>): void {
    const timing = limit.timingOf(dispatch)
    const { counts } = this.#open
    const view = this.#commands.params
    if (!limit.hasTimestamps) {
      this.submit()
      if (counts.submits !== this.#timedSubmits) limit.sent(undefined, 1, this.done())
    }
    const slot = this.#takeSlot(dispatch, live, limit.expected(timing))
    const pass = this.#commands.newPass(limit.begin(timing))
    encode(pass, dispatch, slot, gridOf(dispatch, view, slot))
    this.#commands.encoder() // ends the pass
    if (limit.hasTimestamps) return
    const cost = costOf(dispatch.kernel, readParams(dispatch.kernel.params, view, slot))
    this.submit()
    limit.sent(timing, 1 + (cost?.flops ?? 0) + (cost?.bytes ?? 0), this.done())
    this.#timedSubmits = counts.submits
  }

  /** A slot of the arena with a dispatch's params, in a new submit where the open one has no room
   * for it. */
  #takeSlot(dispatch: Dispatch, live: LiveValues<string>, expectedMs: number): number {
    const isLong = this.limit && this.#queuedMs + expectedMs > this.limit.mostSubmitMs
    if (this.#commands.isFull || (isLong && this.#commands.hasDispatches)) this.submit()
    this.#queuedMs += expectedMs
    const slot = this.#commands.writeParams(dispatch, live)
    if (this.clock?.isDue && !this.recording) this.clock.begin(this.#commands.encoder())
    return slot
  }

  /** A new pass for every run of one kernel, as timestamps are taken at the ends of passes. Further
   * parts of a dispatch are no calls of their own. */
  #timedPass(
    recording: Recording,
    kernel: AnyKernel,
    slot: number,
    isCall = true,
  ): GPUComputePassEncoder {
    const isNew = isCall && recording.count(kernel, this.#commands.params, slot)
    if (!recording.hasTimestamps) return this.#commands.pass()
    const open = this.#commands.openPass
    return isNew || !open ? this.#commands.newPass(recording.stamps()) : open
  }
}

/** Where a dispatch's params lie. Browsers read it from an array of this type in half the time that
 * a list takes them. */
const offset = new Uint32Array(1)

/** One dispatch of a bound kernel, with the params at byte `slot` of the arena. */
function encode(
  pass: GPUComputePassEncoder,
  { pipeline, group }: Pick<Dispatch, 'pipeline' | 'group'>,
  slot: number,
  grid: Grid,
): void {
  pass.setPipeline(pipeline)
  offset[0] = slot
  pass.setBindGroup(0, group, offset, 0, 1)
  pass.dispatchWorkgroups(...grid)
}
