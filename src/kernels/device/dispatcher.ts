// Encodes the dispatches of a program: all in a row, or one by one where they are measured or run
// in parts, as profiling, stage times and the limit of dispatches ask for.

import {
  type DispatchTable,
  MOST_DISPATCHES,
  type Place,
  type Stretch,
} from './base/dispatch_table.ts'
import { type Cut, type Dispatch, type Grid, readParams, SLOT_BYTES } from './base/program.ts'
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
  /** Dispatches in the open submit. */
  #queued = 0
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
    this.#queued = 0
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

  /** Brings the params of the last live values to their place: at once, or, where the open submit
   * reads the place, by a copy in that submit. */
  fill(table: DispatchTable, place: Place): void {
    if (place.version === table.version) return
    const { params } = table
    const isRead = place.submit === this.#commands.submits
    if (isRead && !this.#commands.hasRoom(params.byteLength)) this.submit()
    if (place.submit === this.#commands.submits) this.#commands.copyParams(params, place.buffer)
    else this.#open.upload(place.buffer, params)
    place.version = table.version
  }

  /** The open submit reads this place. */
  keep(place: Place): void {
    place.submit = this.#commands.submits
  }

  /** Encodes dispatches of a table with their params at a place. */
  encode(table: DispatchTable, stretch: Stretch, place: Place): void {
    const expectedMs = this.#expectedMs(stretch)
    if (expectedMs === undefined) {
      for (const [i, dispatch] of stretch.dispatches.entries()) {
        const index = stretch.first + i
        const [params, grid] = [table.paramsOf(index), table.gridOf(index)]
        this.#encodeOne({ dispatch, params, grid, group: place.groups[index] })
      }
      return
    }
    this.#expect(expectedMs, stretch.dispatches.length)
    encodeAll(table, stretch, place, this.#commands.pass())
  }

  #endStage(): void {
    if (this.clock?.is_open) this.clock.end(this.#commands.encoder())
  }

  /** Milliseconds of dispatches that are encoded in a row; undefined where each is looked at. */
  #expectedMs({ dispatches }: Stretch): number | undefined {
    if (this.recording) return undefined
    if (!this.limit) return 0
    const expectedMs = this.limit.settledMs(dispatches)
    return this.#isLong(expectedMs ?? 0) ? undefined : expectedMs
  }

  #encodeOne(call: Call): void {
    const { dispatch } = call
    const limit = this.limit
    const timing = limit?.timingOf(dispatch)
    const expectedMs = timing && limit ? limit.expected(timing) : 0
    if (dispatch.cut) return this.#encodeParts(call, dispatch.cut, expectedMs)
    if (limit && timing && !this.recording && limit.wants(timing)) return this.#measure(limit, call)
    this.#expect(expectedMs)
    const pass = this.recording ? this.#timedPass(this.recording, call) : this.#commands.pass()
    encode(pass, call)
  }

  #encodeParts(call: Call, cut: Cut, expectedMs: number): void {
    const { params, grid } = call
    const partMs = expectedMs / cut.parts
    parts(grid, cut.parts).forEach((part, i) => {
      if (!this.#commands.hasRoom(SLOT_BYTES)) this.submit()
      this.#expect(partMs)
      const slot = this.#commands.writeParams(params)
      setPart(this.#commands.params, slot + params.byteLength, part, grid)
      const recording = this.recording
      const pass = recording ? this.#timedPass(recording, call, i === 0) : this.#commands.pass()
      pass.setPipeline(cut.pipeline)
      pass.setBindGroup(0, cut.group, [slot])
      pass.dispatchWorkgroups(...part.grid)
    })
  }

  /** One dispatch between two timestamps, or, without a clock, in a submit of its own. */
  #measure(limit: DispatchLimit, call: Call): void {
    const timing = limit.timingOf(call.dispatch)
    const { counts } = this.#open
    if (!limit.hasTimestamps) {
      this.submit()
      if (counts.submits !== this.#timedSubmits) limit.sent(undefined, 1, this.done())
    }
    this.#expect(limit.expected(timing))
    encode(this.#commands.newPass(limit.begin(timing)), call)
    this.#commands.encoder() // ends the pass
    if (limit.hasTimestamps) return
    const { kernel } = call.dispatch
    const cost = costOf(kernel, readParams(kernel.params, viewOf(call.params), 0))
    this.submit()
    limit.sent(timing, 1 + (cost?.flops ?? 0) + (cost?.bytes ?? 0), this.done())
    this.#timedSubmits = counts.submits
  }

  /** Whether the open submit would last too long with so many milliseconds more. */
  #isLong(expectedMs: number): boolean {
    return this.limit !== undefined && this.#queuedMs + expectedMs > this.limit.mostSubmitMs
  }

  /** So many dispatches follow, which are expected to take so long: in a new submit where the open
   * one has no room for them or would last too long, and in a stage that is timed. */
  #expect(expectedMs: number, count = 1): void {
    const isFull = this.#queued + count > MOST_DISPATCHES || this.#isLong(expectedMs)
    if (isFull && this.#queued > 0) this.submit()
    this.#queuedMs += expectedMs
    this.#queued += count
    if (this.clock?.isDue && !this.recording) this.clock.begin(this.#commands.encoder())
  }

  /** A new pass for every run of one kernel, as timestamps are taken at the ends of passes. Further
   * parts of a dispatch are no calls of their own. */
  #timedPass(
    recording: Recording,
    { dispatch: { kernel }, params }: Call,
    isCall = true,
  ): GPUComputePassEncoder {
    const isNew = isCall && recording.count(kernel, viewOf(params))
    if (!recording.hasTimestamps) return this.#commands.pass()
    const open = this.#commands.openPass
    return isNew || !open ? this.#commands.newPass(recording.stamps()) : open
  }
}

/** One dispatch with its params, bound, and its grid. */
interface Call {
  readonly dispatch: Dispatch
  readonly group: GPUBindGroup
  readonly params: Uint8Array
  readonly grid: Grid
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

function encode(pass: GPUComputePassEncoder, { dispatch, group, grid }: Call): void {
  pass.setPipeline(dispatch.pipeline)
  pass.setBindGroup(0, group)
  pass.dispatchWorkgroups(...grid)
}

/** Dispatches in a row. */
function encodeAll(
  { pipelines, grids }: DispatchTable,
  { first, dispatches }: Stretch,
  { groups }: Place,
  pass: GPUComputePassEncoder,
): void {
  const end = first + dispatches.length
  for (let i = first; i < end; i++) {
    pass.setPipeline(pipelines[i])
    pass.setBindGroup(0, groups[i])
    const [x, y, z] = [grids[3 * i], grids[3 * i + 1], grids[3 * i + 2]]
    // Each argument is a conversion, and most grids have one dimension.
    if (y === 1 && z === 1) pass.dispatchWorkgroups(x)
    else pass.dispatchWorkgroups(x, y, z)
  }
}
