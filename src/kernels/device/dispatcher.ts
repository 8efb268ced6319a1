// Encodes the dispatches of a program: all in a row, or one by one where they are measured or run
// in parts, as profiling, stage times and the limit of dispatches ask for.

import type { AnyKernel } from './base/kernel.ts'
import { type Cut, type Dispatch, type Grid, readParams, SLOT_BYTES } from './base/program.ts'
import type { Stretch } from './base/stretch.ts'
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

  /** Encodes dispatches with the live values that they were given last. */
  encode(stretch: Stretch): void {
    const expectedMs = this.#expectedMs(stretch)
    if (expectedMs === undefined)
      for (const index of stretch.dispatches.keys()) this.#encodeOne(stretch, index)
    else encodeAll(stretch, this.#takeSlots(stretch.params, expectedMs), this.#commands.pass())
  }

  #endStage(): void {
    if (this.clock?.is_open) this.clock.end(this.#commands.encoder())
  }

  /** Milliseconds of dispatches that are encoded in a row; undefined where each is looked at. */
  #expectedMs({ dispatches, params }: Stretch): number | undefined {
    if (this.recording || !this.#commands.hasRoom(params.byteLength)) return undefined
    if (!this.limit) return 0
    const expectedMs = this.limit.settledMs(dispatches)
    return this.#isLong(expectedMs ?? 0) ? undefined : expectedMs
  }

  #encodeOne(stretch: Stretch, index: number): void {
    const dispatch = stretch.dispatches[index]
    const call = { dispatch, params: stretch.paramsOf(index), grid: stretch.gridOf(index) }
    const { kernel, cut } = dispatch
    const limit = this.limit
    const timing = limit?.timingOf(dispatch)
    const expectedMs = timing && limit ? limit.expected(timing) : 0
    if (cut) return this.#encodeParts(call, cut, expectedMs)
    if (limit && timing && !this.recording && limit.wants(timing)) return this.#measure(limit, call)
    const slot = this.#takeSlots(call.params, expectedMs)
    const pass = this.recording
      ? this.#timedPass(this.recording, kernel, slot)
      : this.#commands.pass()
    encode(pass, dispatch, slot, call.grid)
  }

  #encodeParts({ dispatch, params, grid }: Call, cut: Cut, expectedMs: number): void {
    const partMs = expectedMs / cut.parts
    parts(grid, cut.parts).forEach((part, i) => {
      const slot = this.#takeSlots(params, partMs)
      setPart(this.#commands.params, slot + params.byteLength, part, grid)
      const recording = this.recording
      const pass = recording
        ? this.#timedPass(recording, dispatch.kernel, slot, i === 0)
        : this.#commands.pass()
      encode(pass, cut, slot, part.grid)
    })
  }

  /** One dispatch between two timestamps, or, without a clock, in a submit of its own. */
  #measure(limit: DispatchLimit, { dispatch, params, grid }: Call): void {
    const timing = limit.timingOf(dispatch)
    const { counts } = this.#open
    const { kernel } = dispatch
    if (!limit.hasTimestamps) {
      this.submit()
      if (counts.submits !== this.#timedSubmits) limit.sent(undefined, 1, this.done())
    }
    const slot = this.#takeSlots(params, limit.expected(timing))
    const pass = this.#commands.newPass(limit.begin(timing))
    encode(pass, dispatch, slot, grid)
    this.#commands.encoder() // ends the pass
    if (limit.hasTimestamps) return
    const cost = costOf(kernel, readParams(kernel.params, this.#commands.params, slot))
    this.submit()
    limit.sent(timing, 1 + (cost?.flops ?? 0) + (cost?.bytes ?? 0), this.done())
    this.#timedSubmits = counts.submits
  }

  /** Whether the open submit would last too long with so many milliseconds more. */
  #isLong(expectedMs: number): boolean {
    return this.limit !== undefined && this.#queuedMs + expectedMs > this.limit.mostSubmitMs
  }

  /** Slots of the arena with these params, in a new submit where the open one has no room for
   * them. Returns the first. */
  #takeSlots(params: Uint8Array, expectedMs: number): number {
    const isFull = !this.#commands.hasRoom(params.byteLength)
    if (isFull || (this.#isLong(expectedMs) && this.#commands.hasDispatches)) this.submit()
    this.#queuedMs += expectedMs
    const slot = this.#commands.writeParams(params)
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

/** One dispatch with its params and its grid. */
interface Call {
  readonly dispatch: Dispatch
  readonly params: Uint8Array
  readonly grid: Grid
}

/** Binds a group with its params at a byte of the arena. Browsers read it from a typed array in
 * half the time that a list takes them; Dawn's binding for Node reads a list sooner. */
const bindAt = 'isSecureContext' in globalThis ? bindTyped(new Uint32Array(1)) : bindListed([0])

type BindAt = (pass: GPUComputePassEncoder, group: GPUBindGroup, slot: number) => void

function bindTyped(offset: Uint32Array): BindAt {
  return (pass, group, slot) => {
    offset[0] = slot
    pass.setBindGroup(0, group, offset, 0, 1)
  }
}

function bindListed(offsets: number[]): BindAt {
  return (pass, group, slot) => {
    offsets[0] = slot
    pass.setBindGroup(0, group, offsets)
  }
}

function encode(
  pass: GPUComputePassEncoder,
  { pipeline, group }: Pick<Dispatch, 'pipeline' | 'group'>,
  slot: number,
  grid: Grid,
): void {
  pass.setPipeline(pipeline)
  bindAt(pass, group, slot)
  pass.dispatchWorkgroups(...grid)
}

/** Dispatches of bound kernels in a row, with their params from byte `first` of the arena on. */
function encodeAll(
  { pipelines, groups, grids }: Stretch,
  first: number,
  pass: GPUComputePassEncoder,
): void {
  for (let i = 0; i < groups.length; i++) {
    pass.setPipeline(pipelines[i])
    bindAt(pass, groups[i], first + i * SLOT_BYTES)
    const [x, y, z] = [grids[3 * i], grids[3 * i + 1], grids[3 * i + 2]]
    // Each argument is a conversion, and most grids have one dimension.
    if (y === 1 && z === 1) pass.dispatchWorkgroups(x)
    else pass.dispatchWorkgroups(x, y, z)
  }
}
