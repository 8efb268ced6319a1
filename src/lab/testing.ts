// A session over a made-up trainer, for tests; never shipped.
import { expect } from 'vitest'
import type { GpuError } from '../kernels/device/errors.ts'
import type { Pairs, Verdict } from '../rl/config/phase.ts'
import type { StepResult } from '../rl/train/trainer.ts'
import type { Checkpoint, SteeredState } from './checkpoints/checkpoint.ts'
import { CheckpointError } from './checkpoints/file/checkpoint_error.ts'
import { memoryFiles } from './checkpoints/storage/memory_files.ts'
import type { SteeringAction, SteeringEntry } from './experiment/steering/actions.ts'
import { PRESETS } from './presets/presets.ts'
import {
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from './protocol/observation.ts'
import type { LabEvent } from './protocol/protocol.ts'
import type {
  BenchmarkNumbers,
  Generation,
  MatmulChoice,
  Peak,
  Profile,
  RolloutSample,
  TokenTable,
} from './protocol/results.ts'
import { MemoryRefusal } from './worker/memory_budget.ts'
import { type OpenRun, type RunDevice, Session } from './worker/session.ts'

const { experiment } = PRESETS[0]
const sample = (step: number): RolloutSample => ({
  prompt: `${step}`,
  response: '',
  ground_truth: '',
  score: 1,
  advantage: 0,
  response_length: 1,
  is_ended: true,
})
export const GENERATION: Generation = {
  ...{ input: '21', output: '12', gts: '12' },
  ...{ score: 1, do_sample: true, is_ended: true },
}

/** As the device layer throws it; the class itself belongs to the GPU side. */
export const gpuError = (code: GpuError['code'], message: string): GpuError =>
  Object.assign(new Error(message), { name: 'GpuError', code })

const ALLOWED_BYTES = 100

/** Lets every message that is under way arrive, as the event loop does between two steps. */
export const tick = () => new Promise<void>((resolve) => setTimeout(resolve))

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
  const start = async (
    matmul?: MatmulChoice,
    _?: unknown,
    state?: SteeredState,
  ): Promise<OpenRun> => {
    log.push(matmul ? `create ${JSON.stringify(matmul)}` : 'create')
    if (state) log.push(`from ${state.trainer.step}, ${state.document.steering.length} changes`)
    let step = state?.trainer.step ?? -1
    let phase = state?.trainer.phase ?? 0
    let phase_step = state?.trainer.phase_step ?? 0
    let wants_next = false
    let wants_trace = false
    let request = NO_OBSERVATION
    const said: Verdict[] = []
    const given = () => said.filter(({ choice }) => choice !== 'skip').length
    const preferences = () => ({
      config: PAIRS,
      pending: ASKED.slice(said.length),
      given: given(),
      log: said,
    })
    const isAsking = () => asks && phase === 1
    const enter = (): StepResult['phase_started'] => {
      if (step < 0) return { phase, reason: 'start' }
      if (phase === 1 || !(phase_step >= 3 || wants_next)) return undefined
      phase++
      phase_step = 0
      const reason = wants_next ? 'next_phase' : 'steps'
      wants_next = false
      return { phase, reason }
    }
    let started: StepResult['phase_started'] | undefined
    const asked: SteeringAction['kind'][] = []
    return {
      counts: {
        buffers: 1,
        bind_groups: 0,
        pipelines: 0,
        dispatches: 0,
        submits: 0,
        reads: 0,
        uploaded_bytes: 0,
        live_bytes: 0,
      },
      memory: () => ({
        weights: 1,
        gradients: 0,
        optimizer: 0,
        activations: 0,
        kv_cache: 0,
        batch: 0,
        scratch: 0,
        probes: 0,
      }),
      profile: async (work) => {
        log.push('profile')
        return { result: await work(), profile: PROFILE }
      },
      trainer: {
        get isFinished() {
          return step >= 0 && phase === 1 && (phase_step >= 3 || wants_next)
        },
        steer: ({ kind }) => {
          log.push(`steer ${kind}`)
          asked.push(kind)
        },
        obey: async () => {
          const is_untaught = isAsking() && phase_step === 0
          wants_next ||= !is_untaught && asked.includes('next_phase')
          return asked.splice(0).map((kind) => ({
            entry: { step: Math.max(0, step), kind } as SteeringEntry,
            experiment,
            steering: [],
            ...(is_untaught && kind === 'next_phase' && { refused: 'not taught' }),
          }))
        },
        exportState: async () => {
          log.push(`export ${step}`)
          return {
            trainer: {
              ...{ step, phase, phase_step, began: null, pairs_of: null },
              ...(unsound.includes(step) && { actor: NO_NUMBERS }),
            },
            experiment,
            document: experiment,
            done: 0,
          } as unknown as SteeredState
        },
        traceNext: () => {
          wants_trace = true
        },
        observe: (asked) => {
          request = asked
          log.push(`observe ${asked.groups}`)
        },
        observeNow: async () => {
          await tick()
          return request.groups.length > 0 ? observation(request) : undefined
        },
        get step() {
          return Math.max(0, step)
        },
        get phase() {
          return phase
        },
        get isWaiting() {
          return isAsking() && given() < PAIRS.min_pairs
        },
        get preferences() {
          return isAsking() ? preferences() : undefined
        },
        ready: async () => {
          started ??= enter()
          return !(isAsking() && given() < PAIRS.min_pairs)
        },
        takePhaseStart: () => {
          const told = started
          started = undefined
          return told
        },
        decide: (id, choice) =>
          isAsking() && id === said.length && said.push({ choice, step: phase_step }) > 0,
        undoVerdict: () => isAsking() && said.pop() !== undefined,
        queue: async () => {
          const told = started ?? enter()
          started = undefined
          step++
          if (step > 0) phase_step++
          if (step === fail_at) throw gpuError('out_of_memory', 'no room')
          const result: StepResult = {
            step,
            phase,
            phase_step,
            metrics: {
              loss: 10 - step,
              ...(broken.includes(step) && { 'training/skipped_updates': 1 }),
            },
            samples: [sample(step)],
            ...(evaluated.includes(step) && { generations: [GENERATION] }),
            ...(told ? { phase_started: told } : {}),
            // Reinforcement is the second phase.
            ...(wants_trace && phase === 1 ? { trace: TRACE } : {}),
            ...(request.groups.length > 0 && step % request.every === 0
              ? { observation: observation(request) }
              : {}),
          }
          if (result.trace) wants_trace = false
          log.push(`queue ${step}`)
          const hangs = step === hang_at && is_hanging
          return {
            result: tick().then(() => {
              clock += 100
              return hangs ? new Promise<StepResult>(() => {}) : result
            }),
          }
        },
      },
    }
  }
  let opened = 0
  const prepare = async (
    _: unknown,
    is_careful?: boolean,
    allow_bytes = 0,
  ): Promise<RunDevice> => ({
    ...(takes_bytes > Math.max(ALLOWED_BYTES, allow_bytes) ? refuse() : device()),
    ...(is_careful && { destroy: () => log.push('destroy careful') }),
  })
  const refuse = (): never => {
    throw new MemoryRefusal(takes_bytes, ALLOWED_BYTES, [])
  }
  const device = (): RunDevice => {
    if (opened++ > 0 && closed-- > 0) throw gpuError('no_adapter', 'nothing here')
    return openDevice()
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
    destroy: () => log.push('destroy'),
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
    pass: (ms: number) => {
      clock += ms
    },
    steps,
    statuses,
    last,
    until,
    lose: (error: GpuError) => lose(error),
  }
}

/** What a step shows that was asked for this. */
export const observation = ({ groups, layer }: ObservationRequest): Observation => ({
  ...{ num_hidden_layers: 2, rows: 'responses', tokens: 4, mean: {}, std: {}, layer, lenses: [] },
  cost_ms: Object.fromEntries(groups.map((group) => [group, 1])),
})
export const asking = (
  groups: ObservationRequest['groups'],
  rest: Partial<ObservationRequest> = {},
): ObservationRequest => ({ ...NO_OBSERVATION, groups, ...rest })

export const ASKED = [0, 1, 2, 3, 4].map((id) => ({
  id,
  prompt: `${id}`,
  response_a: `a${id}`,
  response_b: `b${id}`,
}))
const PAIRS: Pairs = {
  source: 'human',
  count: 5,
  held_out: 0,
  temperature: 1,
  min_pairs: 2,
  verdicts: [],
}
const NO_NUMBERS = {
  weights: Float32Array.of(Number.NaN),
  adam_m: new Float32Array(1),
  adam_v: new Float32Array(1),
}
export const FIRST = 'nt_m64_n32_k16'
export const SECOND = 'tn_m32_n16_k64'
const ADAPTER = {
  vendor: 'v',
  architecture: 'a',
  description: '',
  features: [],
  max_buffer_bytes: 0,
  max_binding_bytes: 0,
  has_subgroups: false,
  has_f16: false,
}
export const TRACE = { rows: 4 } as TokenTable

export const PROFILE: Profile = {
  source: 'timestamps',
  resolution_ns: 1,
  kernels: [],
  stages: [],
  dispatches: 0,
  time_ms: 0,
}
export const PEAK: Peak = { gflops: 100, gbps: 10 }
export const NUMBERS: BenchmarkNumbers = {
  peak_gflops: 1,
  peak_gbps: 2,
  matmul_256_gflops: 3,
  matmul_512_gflops: 4,
  sft_steps_per_second: 5,
  rl_steps_per_second: 6,
  rollout_tokens_per_second: 7,
}

export const start = { type: 'start', run: 1, record: 'r1', experiment, paused: false } as const
