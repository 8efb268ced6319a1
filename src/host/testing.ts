// Makes a session over a made-up trainer, for tests; never shipped.
import { expect } from 'vitest'
import { PRESETS } from '../document/presets/presets.ts'
import type { GpuError } from '../kernels/device/base/errors.ts'
import type { Checkpoint, SteeredState } from './checkpoints/file/checkpoint.ts'
import { CheckpointError } from './checkpoints/file/checkpoint_error.ts'
import { memoryFiles } from './checkpoints/storage/memory_files.ts'
import type { LabEvent } from './protocol/protocol.ts'
import type { MatmulChoice } from './protocol/results.ts'
import { ADAPTER, FIRST, NUMBERS, PEAK, SECOND } from './protocol/testing.ts'
import type { PartCosts } from './protocol/touch.ts'
import { MemoryRefusal } from './worker/base/memory_budget.ts'
import type { KernelProgress } from './worker/base/session_host.ts'
import { type OpenRun, type RunDevice, Session } from './worker/session.ts'
import { type FakeSurroundings, fakeRun, gpuError, tick } from './worker/testing.ts'

const { experiment } = PRESETS[0]
const ALLOWED_BYTES = 100

const NO_MISFORTUNES = {
  failAt: Number.NaN,
  hangAt: Number.NaN,
  benchmark_fails: false,
  is_software: true,
  /** How often the GPU cannot be opened, after it was opened once. */
  closed: 0,
  adapter: 'fake',
  /** What is known after each measurement. */
  measured: [] as readonly KernelProgress[],
  /** The first measurement is an error. */
  measure_fails: false,
  /** Steps whose update is left out, every time that they come. */
  broken: [] as readonly number[],
  /** Steps that are evaluated, and hand their answers over. */
  evaluated: [] as readonly number[],
  /** Steps after which a weight is NaN, whatever they show. */
  unsound: [] as readonly number[],
  /** That a run takes. */
  takes_bytes: 1,
  /** The second phase asks for two verdicts. */
  asks: false,
}
type Options = typeof NO_MISFORTUNES

/** The clock, the log and the GPU of a made-up lab. */
class FakeMachine implements FakeSurroundings {
  readonly log: string[] = []
  clock = 0
  /** Those whose devices are open. */
  readonly #losing: ((error: GpuError) => void)[] = []
  readonly #options: Options
  #isHanging = true
  #opened = 0
  #closed: number

  constructor(options: Options) {
    this.#options = options
    this.#closed = options.closed
  }

  pass(ms: number): void {
    this.clock += ms
  }
  isHanging(): boolean {
    return this.#isHanging
  }

  /** Takes the present devices away. */
  lose(error: GpuError): void {
    this.#isHanging = false
    for (const hear of this.#losing.splice(0)) hear(error)
  }

  async prepare(isCareful = false, allowBytes = 0): Promise<RunDevice> {
    const { takes_bytes } = this.#options
    if (takes_bytes > Math.max(ALLOWED_BYTES, allowBytes))
      throw new MemoryRefusal(takes_bytes, ALLOWED_BYTES, '')
    if (this.#opened++ > 0 && this.#closed-- > 0) throw gpuError('no_adapter', 'nothing here')
    const free = async (endedWell: boolean) => {
      this.log.push(!endedWell ? 'destroy' : isCareful ? 'free careful' : 'free')
    }
    return { ...this.#device(), free }
  }

  #device(): Omit<RunDevice, 'free'> {
    const { is_software, adapter, measured, measure_fails } = this.#options
    const { log } = this
    return {
      adapter: { ...ADAPTER, is_software, description: adapter },
      lost: new Promise((resolve) => {
        this.#losing.push(resolve)
      }),
      defaults: { [FIRST]: 'plain', [SECOND]: 'plain' },
      variants: new Set(['plain', 'fast']),
      missing: (variant) => (variant.startsWith('subgroups_') ? ['subgroups'] : []),
      suited: {},
      async *measure(settled) {
        for (const progress of measured) {
          log.push(`measure without ${JSON.stringify(settled)}`)
          if (measure_fails) throw gpuError('validation', 'no')
          yield progress
        }
      },
      start: (matmul, _, state) => this.#start(matmul, state),
    }
  }

  async #start(matmul?: MatmulChoice, state?: SteeredState): Promise<OpenRun> {
    this.log.push(matmul ? `create ${JSON.stringify(matmul)}` : 'create')
    if (state)
      this.log.push(`from ${state.trainer.step}, ${state.document.steering.length} changes`)
    return fakeRun(this.#options, this, state)
  }
}

/** Checkpoints that stay objects: a file holds the number of one. */
function fakeCheckpoints(machine: FakeMachine) {
  const files = memoryFiles(() => machine.clock)
  const made: Checkpoint[] = []
  return {
    files,
    made,
    host: {
      open: async () => ({ files, whyMemory: '' }),
      encode: async (checkpoint: Checkpoint) => Uint8Array.of(made.push(checkpoint) - 1),
      decode: async ([index]: Uint8Array, file: string) => {
        const checkpoint = made[index]
        if (!checkpoint) throw new CheckpointError(file, 'broken')
        return checkpoint
      },
      understory: '1',
    },
  }
}

/** What a lab has posted, and a way to wait for more. */
function eventsOf(events: readonly LabEvent[]) {
  return {
    steps: () => events.flatMap((e) => (e.type === 'step' ? [e.step] : [])),
    statuses: () => events.flatMap((e) => (e.type === 'status' ? [e.status] : [])),
    last: (type: LabEvent['type']) => events.findLast((e) => e.type === type),
    until: async (holds: () => boolean) => {
      for (let i = 0; i < 200 && !holds(); i++) await tick()
      expect(holds()).toBe(true)
    },
  }
}

/** A trainer of two phases of 3 steps. Each step takes 100 ms of the fake clock, and one turn of
 * the event loop. */
export function fakeLab(options: Partial<Options> = {}) {
  const all = { ...NO_MISFORTUNES, ...options }
  const machine = new FakeMachine(all)
  const { host, files, made } = fakeCheckpoints(machine)
  const events: LabEvent[] = []
  const session = new Session({
    open: async () => {
      throw gpuError('no_adapter', 'nothing here')
    },
    prepare: (_, isCareful, allowBytes) => machine.prepare(isCareful, allowBytes),
    plan: () => ({ bytes: all.takes_bytes, allowed_bytes: ALLOWED_BYTES }),
    version: 'v1',
    peak: async () => PEAK,
    benchmark: async (onProgress) => {
      onProgress('Multiplying matrices')
      if (all.benchmark_fails) throw gpuError('out_of_memory', 'no room')
      return NUMBERS
    },
    checkpoints: host,
    // Says which states it was given.
    touch: async (given, work, onProgress) => {
      const states = await Promise.all(given.map((load) => load()))
      onProgress(1, 2)
      const [{ step }] = states
      const costs = { ...work, parts: states.map((one) => one.step) }
      return { what: 'parts', step, costs: costs as unknown as PartCosts }
    },
    post: (event) => events.push(event),
    now: () => machine.clock,
    sleep: async (ms) => {
      await tick()
      machine.pass(ms)
    },
  })
  return {
    session,
    events,
    log: machine.log,
    files,
    made,
    pass: (ms: number) => machine.pass(ms),
    lose: (error: GpuError) => machine.lose(error),
    ...eventsOf(events),
  }
}

export const start = { type: 'start', run: 1, record: 'r1', experiment, paused: false } as const

/** Kept after every step, whatever the clock says. */
export const OFTEN = { every_steps: 1, every_ms: 0, budget_bytes: 1e9 }
export const going = { ...start, checkpoints: OFTEN }

type Of<T extends LabEvent['type']> = Extract<LabEvent, { type: T }>
/** The events of one type, in order. */
export const all = <T extends LabEvent['type']>(events: readonly LabEvent[], type: T) =>
  events.filter((event): event is Of<T> => event.type === type)
