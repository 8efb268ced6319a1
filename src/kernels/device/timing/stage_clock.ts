// Measures the GPU's time for each stage of a step, with timestamps that come back with the step's
// own readback.
import type { Tensor } from '../base/tensor.ts'

/** Stamps of one step at most; stages beyond that are not timed. */
export const STAMPS = 64
/** u32 elements of one readback. */
export const STAGE_STAMPS = 2 * STAMPS

/** Seconds of one stage. */
export type StageTimes = Readonly<Record<string, number>>

/** A stage is timed from the end of the work before its first dispatch to the end of its last one.
 * Time that the GPU waits in between, because the CPU reads something back, does not count. Creates
 * nothing after its constructor. */
export class StageClock {
  /** u32 pairs, low word first, once `resolve` has been encoded; [STAGE_STAMPS]. */
  readonly stamps: Tensor<'u32'>
  #set: GPUQuerySet
  #resolved: GPUBuffer
  #name: string | undefined
  #isOpen = false
  /** Stage of each pair of stamps. */
  #stages: string[] = []
  #count = 0

  /** `set` of STAMPS timestamps, and `resolved`: 8 · STAMPS bytes to resolve them to and copy them
   * from. */
  constructor(set: GPUQuerySet, resolved: GPUBuffer) {
    this.#set = set
    this.#resolved = resolved
    this.stamps = {
      label: 'stages',
      dtype: 'u32',
      shape: [STAGE_STAMPS],
      offset: 0,
      buffer: resolved,
    }
  }

  /** The stage of the dispatches that follow; undefined = none. */
  enter(name: string | undefined): void {
    this.#name = name
  }

  /** Whether a stamp is due before the next dispatch. */
  get isDue(): boolean {
    return !this.#isOpen && this.#name !== undefined && this.#count + 2 <= STAMPS
  }

  get is_open(): boolean {
    return this.#isOpen
  }

  /** Stamps the beginning of the current stage. The encoder has no open pass. */
  begin(encoder: GPUCommandEncoder): void {
    this.#stages.push(this.#name ?? '')
    this.#stamp(encoder)
    this.#isOpen = true
  }

  /** Stamps the end of the current stage. Further dispatches of it begin a new pair of stamps. */
  end(encoder: GPUCommandEncoder): void {
    this.#stamp(encoder)
    this.#isOpen = false
  }

  /** The end of an empty pass comes when everything before it has ended. */
  #stamp(encoder: GPUCommandEncoder): void {
    const timestampWrites = { querySet: this.#set, endOfPassWriteIndex: this.#count++ }
    encoder.beginComputePass({ timestampWrites }).end()
  }

  /** Encodes copying all stamps so far to `stamps`. Returns the function that reads their values.
   * The next step starts empty. */
  resolve(encoder: GPUCommandEncoder): (stamps: Uint32Array) => StageTimes {
    if (this.#isOpen) this.end(encoder)
    const stages = this.#stages
    if (this.#count > 0) {
      encoder.resolveQuerySet(this.#set, 0, this.#count, this.#resolved, 0)
    }
    this.#stages = []
    this.#count = 0
    this.#name = undefined
    return (stamps) => stageTimes(stages, stamps)
  }
}

/** Nanoseconds in pairs of words, as seconds by stage. A stage whose clock did not move, or moved
 * back, is left out. */
export function stageTimes(stages: readonly string[], stamps: Uint32Array): StageTimes {
  const at = (i: number) => stamps[2 * i] + stamps[2 * i + 1] * 2 ** 32
  const times: Record<string, number> = {}
  stages.forEach((stage, i) => {
    const ns = at(2 * i + 1) - at(2 * i)
    if (ns > 0) times[stage] = (times[stage] ?? 0) + ns / 1e9
  })
  return times
}
