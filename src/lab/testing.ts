// A session over a made-up trainer, for tests; never shipped.
import { expect } from 'vitest'
import type { GpuError } from '../kernels/device/errors.ts'
import type { Checkpoint, SteeredState } from './checkpoints/checkpoint.ts'
import { CheckpointError } from './checkpoints/file/checkpoint_error.ts'
import { memoryFiles } from './checkpoints/storage/memory_files.ts'
import { PRESETS } from './presets/presets.ts'
import type { LabEvent } from './protocol/protocol.ts'
import type { MatmulChoice } from './protocol/results.ts'
import { ADAPTER, FIRST, NUMBERS, PEAK, SECOND } from './protocol/testing.ts'
import { MemoryRefusal } from './worker/memory_budget.ts'
import { type OpenRun, type RunDevice, Session } from './worker/session.ts'
import { fakeRun, gpuError, tick } from './worker/testing.ts'

const { experiment } = PRESETS[0]
const ALLOWED_BYTES = 100

/** A trainer of two phases of 3 steps. Each step takes 100 ms of the fake clock, and one turn of the event loop. */
export function fakeLab({
  fail_at = Number.NaN,
  hang_at = Number.NaN,
  benchmark_fails = false,
  is_software = true,
  /** How often the GPU cannot be opened, after it was opened once. */
  closed = 0,
  adapter = 'fake',
  tune = async (): Promise<MatmulChoice> => ({}),
  /** Steps whose update is left out, every time that they come. */
  broken = [] as readonly number[],
  /** Steps that are evaluated, and hand their answers over. */
  evaluated = [] as readonly number[],
  /** Steps after which a weight is NaN, whatever they show. */
  unsound = [] as readonly number[],
  /** That a run takes. */
  takes_bytes = 1,
  /** The second phase asks for two verdicts. */
  asks = false,
} = {}) {
  const events: LabEvent[] = []
  const log: string[] = []
  let clock = 0
  let lose: (error: GpuError) => void = () => {}
  const files = memoryFiles(() => clock)
  const made: Checkpoint[] = []
  let is_hanging = true
  const of = { fail_at, hang_at, broken, evaluated, unsound, asks }
  const surroundings = {
    log,
    pass: (ms: number) => {
      clock += ms
    },
    isHanging: () => is_hanging,
  }
  const start = async (
    matmul?: MatmulChoice,
    _?: unknown,
    state?: SteeredState,
  ): Promise<OpenRun> => {
    log.push(matmul ? `create ${JSON.stringify(matmul)}` : 'create')
    if (state) log.push(`from ${state.trainer.step}, ${state.document.steering.length} changes`)
    return fakeRun(of, surroundings, state)
  }
  let opened = 0
  const prepare = async (
    _: unknown,
    is_careful?: boolean,
    allow_bytes = 0,
  ): Promise<RunDevice> => ({
    ...(takes_bytes > Math.max(ALLOWED_BYTES, allow_bytes) ? refuse() : device()),
    ...(is_careful && { free: freeing('free careful') }),
  })
  const refuse = (): never => {
    throw new MemoryRefusal(takes_bytes, ALLOWED_BYTES, [])
  }
  const device = (): RunDevice => {
    if (opened++ > 0 && closed-- > 0) throw gpuError('no_adapter', 'nothing here')
    return openDevice()
  }
  const freeing = (done: string) => async (ended_well: boolean) => {
    log.push(ended_well ? done : 'destroy')
  }
  const openDevice = (): RunDevice => ({
    adapter: { ...ADAPTER, is_software, description: adapter },
    lost: new Promise((resolve) => {
      lose = (error) => {
        is_hanging = false
        resolve(error)
      }
    }),
    defaults: { [FIRST]: 'plain', [SECOND]: 'plain' },
    variants: new Set(['plain', 'fast']),
    missing: (variant) => (variant.startsWith('subgroups_') ? ['subgroups'] : []),
    tune: async (pinned) => {
      log.push(`tune without ${JSON.stringify(pinned)}`)
      return { ...(await tune()), ...pinned }
    },
    start,
    free: freeing('free'),
  })
  const session = new Session({
    open: async () => {
      throw gpuError('no_adapter', 'nothing here')
    },
    prepare,
    plan: () => ({ bytes: takes_bytes, allowed_bytes: ALLOWED_BYTES }),
    version: 'v1',
    peak: async () => PEAK,
    benchmark: async (onProgress) => {
      onProgress('Multiplying matrices')
      if (benchmark_fails) throw gpuError('out_of_memory', 'no room')
      return NUMBERS
    },
    checkpoints: {
      open: async () => ({ files, why_memory: '' }),
      encode: async (checkpoint) => Uint8Array.of(made.push(checkpoint) - 1),
      decode: async ([index], file) => {
        const checkpoint = made[index]
        if (!checkpoint) throw new CheckpointError(file, 'broken')
        return checkpoint
      },
      understory: '1',
    },
    post: (event) => events.push(event),
    now: () => clock,
    sleep: async (ms) => {
      await tick()
      clock += ms
    },
  })
  const steps = () => events.flatMap((e) => (e.type === 'step' ? [e.step] : []))
  const statuses = () => events.flatMap((e) => (e.type === 'status' ? [e.status] : []))
  const last = (type: LabEvent['type']) => events.findLast((e) => e.type === type)
  const until = async (holds: () => boolean) => {
    for (let i = 0; i < 200 && !holds(); i++) await tick()
    expect(holds()).toBe(true)
  }
  return {
    session,
    events,
    log,
    files,
    made,
    pass: surroundings.pass,
    steps,
    statuses,
    last,
    until,
    lose: (error: GpuError) => lose(error),
  }
}

export const start = { type: 'start', run: 1, record: 'r1', experiment, paused: false } as const
