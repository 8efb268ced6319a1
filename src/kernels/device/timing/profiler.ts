// Adds up what a measured piece of work cost: GPU time, operations and bytes, by kernel and by
// stage. queries.ts makes the timestamps and reads them back; this file interprets them.
import type { AnyKernel } from '../base/kernel.ts'
import { readParams } from '../base/program.ts'
import { costOf } from './cost.ts'
import { Stamps } from './stamps.ts'

/** One line of a profile: a kernel or a stage. */
export interface ProfileRow {
  readonly name: string
  /** Dispatches. */
  readonly calls: number
  /** GPU time in milliseconds; undefined where the adapter could not tell. */
  readonly time_ms: number | undefined
  /** Of the calls whose kernel declares its cost; undefined when none does. */
  readonly flops: number | undefined
  readonly bytes: number | undefined
}

export interface Profile {
  /** 'timestamps': the GPU's own clock, around every run of one kernel. 'wall': the adapter has no
   * timestamps, so each submit was timed from the moment it was sent until the GPU was done; then
   * kernels have no time of their own. */
  readonly source: 'timestamps' | 'wall'
  /** The step of the GPU's clock in nanoseconds (browsers make it coarse); undefined for 'wall'. */
  readonly resolutionNs: number | undefined
  /** The slowest first. */
  readonly kernels: readonly ProfileRow[]
  /** In the order in which they began. */
  readonly stages: readonly ProfileRow[]
  readonly dispatches: number
  /** All of it. */
  readonly time_ms: number
}

/** What belongs to no stage, e.g. clearing sums. */
const NO_STAGE = 'other'

/** The calls of one kernel in one stage. */
interface Entry {
  readonly stage: string
  readonly kernel: string
  calls: number
  flops: number
  bytes: number
  hasCost: boolean
  ns: number
}

/** What `Gpu.profile` sees of the work it measures. */
export class Recording {
  readonly #entries = new Map<string, Entry>()
  readonly #stamps: Stamps<Entry> | undefined
  readonly #stageMs = new Map<string, number>()
  #stage = NO_STAGE
  #last: Entry | undefined
  /** When the GPU had finished everything sent so far. */
  #idleAt = 0

  /** Without `createQueries` (a set of QUERIES timestamps) only submits are timed. */
  constructor(createQueries: (() => GPUQuerySet) | undefined) {
    this.#stamps = createQueries && new Stamps(createQueries)
  }

  get hasTimestamps(): boolean {
    return this.#stamps !== undefined
  }

  get queries(): Stamps<unknown>['queries'] {
    return this.#stamps?.queries ?? []
  }

  /** Dispatches from now on belong to this stage. */
  enter(stage: string): void {
    this.#stage = stage
    this.#last = undefined
  }

  /** Counts a dispatch with these params. True when the dispatch before it was of another kernel or
   * stage. */
  count(kernel: AnyKernel, params: DataView): boolean {
    const key = `${this.#stage}/${kernel.name}`
    let entry = this.#entries.get(key)
    if (!entry) {
      const none = { calls: 0, flops: 0, bytes: 0, hasCost: false, ns: 0 }
      entry = { stage: this.#stage, kernel: kernel.name, ...none }
      this.#entries.set(key, entry)
    }
    const cost = costOf(kernel, readParams(kernel.params, params, 0))
    entry.calls++
    entry.flops += cost?.flops ?? 0
    entry.bytes += cost?.bytes ?? 0
    entry.hasCost ||= cost !== undefined
    const isNew = entry !== this.#last
    this.#last = entry
    return isNew
  }

  /** Two stamps around a pass that begins with the dispatch counted last. */
  stamps(): GPUComputePassTimestampWrites | undefined {
    return this.#last && this.#stamps?.next(this.#last)
  }

  /** Times one submit of the current stage; `done` resolves when the GPU has finished it. */
  submitted(done: Promise<unknown>, now: () => number = () => performance.now()): void {
    if (this.hasTimestamps) return
    const stage = this.#stage
    const sentAt = now()
    done.then(
      () => {
        const endedAt = now()
        const ms = endedAt - Math.max(sentAt, this.#idleAt)
        this.#idleAt = endedAt
        this.#stageMs.set(stage, (this.#stageMs.get(stage) ?? 0) + ms)
      },
      () => {}, // a lost device is reported elsewhere
    )
  }

  /** The profile, from the stamps of all pairs in order (nanoseconds). */
  finish(stamps: BigUint64Array = new BigUint64Array()): Profile {
    for (const [entry, ns] of this.#stamps?.times(stamps) ?? []) entry.ns += ns
    const entries = [...this.#entries.values()]
    const isTimed = this.hasTimestamps
    const kernels = rows(entries, 'kernel', isTimed).sort(
      (a, b) => (b.time_ms ?? 0) - (a.time_ms ?? 0),
    )
    const stages = rows(entries, 'stage', isTimed).map((row) =>
      isTimed ? row : { ...row, time_ms: this.#stageMs.get(row.name) },
    )
    return {
      source: isTimed ? 'timestamps' : 'wall',
      resolutionNs: isTimed ? resolution(stamps) : undefined,
      kernels,
      stages,
      dispatches: entries.reduce((sum, { calls }) => sum + calls, 0),
      time_ms: stages.reduce((sum, { time_ms = 0 }) => sum + time_ms, 0),
    }
  }

  destroy(): void {
    this.#stamps?.destroy()
  }
}

/** Entries added up by kernel or by stage, in the order in which they first came. */
function rows(entries: readonly Entry[], name: 'kernel' | 'stage', isTimed: boolean): ProfileRow[] {
  const groups = new Map<string, Entry[]>()
  for (const entry of entries) {
    const group = groups.get(entry[name])
    if (group) group.push(entry)
    else groups.set(entry[name], [entry])
  }
  return [...groups].map(([label, group]) => {
    const sum = (of: 'calls' | 'flops' | 'bytes' | 'ns') =>
      group.reduce((total, entry) => total + entry[of], 0)
    const hasCost = group.some((entry) => entry.hasCost)
    return {
      name: label,
      calls: sum('calls'),
      time_ms: isTimed ? sum('ns') / 1e6 : undefined,
      flops: hasCost ? sum('flops') : undefined,
      bytes: hasCost ? sum('bytes') : undefined,
    }
  })
}

/** The largest step that all differences of the stamps are multiples of; undefined when the clock
 * did not move. */
function resolution(stamps: BigUint64Array): number | undefined {
  let step = 0n
  for (const stamp of stamps) {
    let [a, b] = [step, stamp > stamps[0] ? stamp - stamps[0] : stamps[0] - stamp]
    while (b > 0n) [a, b] = [b, a % b]
    step = a
    if (step === 1n) break
  }
  return step > 0n ? Number(step) : undefined
}
