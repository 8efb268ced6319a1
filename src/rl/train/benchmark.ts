// Runs a short benchmark of one adapter: the same work everywhere, so that its numbers can be
// compared.
import type { Gpu } from '../../kernels/device/gpu.ts'
import { gpuChoice } from '../../kernels/matmul/gpu_variants.ts'
import { matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { bestRate, probePeak } from '../../kernels/peak/peak.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { suited } from './suited.ts'
import { Trainer } from './trainer.ts'

export interface BenchmarkNumbers {
  /** Probed f32 peak, 10⁹ operations per second. */
  readonly peak_gflops: number
  /** Probed copy bandwidth, 10⁹ bytes per second, read and written. */
  readonly peak_gbps: number
  /** Products of square matrices of this size, as a run's linear layers begin on this adapter. */
  readonly matmul_256_gflops: number
  readonly matmul_512_gflops: number
  /** Whole training steps per second, from prompts to metrics. */
  readonly sft_steps_per_second: number
  readonly rl_steps_per_second: number
  /** Response columns sampled per second: rows that have ended count on, as they wait for the
   * others. */
  readonly rollout_tokens_per_second: number
}

const STEPS = 40
/** A phase is timed for so long, or STEPS steps, and at least twice. */
const PHASE_MS = 1500

/** What is timed of an experiment: its first phase of each kind, without validation and probes. */
export function benchmarkConfig(config: TrainerConfig): TrainerConfig {
  const kinds = ['sft', 'rl'] as const
  const phases = kinds.map((kind) => {
    const phase = config.phases.find((candidate) => candidate.kind === kind)
    if (!phase) throw new RangeError(`benchmark: expected a phase of kind ${kind}, found none`)
    // One step more, to warm up.
    return { ...phase, steps: STEPS + 1 }
  })
  return {
    ...config,
    phases,
    validation: { ...config.validation, test_freq: null },
    probe: { ...config.probe, freq: null },
  }
}

/** GFLOP/s of an [n, n] × [n, n] product, on the kernel that a run begins with here. */
async function productRate(gpu: Gpu, n: number): Promise<number> {
  const size = { m: n, n, k: n }
  const kernel = matmulKernel(gpuChoice([{ op: 'nt', ...size }], gpu.facts), 'nt', size)
  const [a, b, out] = ['a', 'b', 'out'].map((name) => gpu.tensor(name, 'f32', [n, n]))
  try {
    const program = await gpu.record(`matmul ${n}`, [], (r) =>
      r.run(kernel, { ...size, accumulate: 0 }, { a, b, out }),
    )
    const rounds = await bestRate(gpu, (amount) => {
      for (let i = 0; i < amount; i++) gpu.replay(program)
    })
    return (rounds * 2 * n ** 3) / 1e6
  } finally {
    gpu.free(a, b, out)
  }
}

/** Steps per second of the current phase, and the seconds that sampling took per step. */
async function timeSteps(trainer: Trainer): Promise<{ rate: number; genS: number }> {
  const step = async () => (await trainer.next()).metrics
  await step()
  let steps = 0
  let genS = 0
  const started = performance.now()
  while (steps < STEPS && (steps < 2 || performance.now() - started < PHASE_MS)) {
    genS += (await step())['timing_s/gen'] ?? 0
    steps++
  }
  const seconds = (performance.now() - started) / 1000
  return { rate: steps / seconds, genS: genS / steps }
}

/** Probes the adapter, times two matrix products, then steps of a supervised and a reinforcement
 * phase. Wants the device to itself; on a GPU it takes a few seconds. `config` as benchmarkConfig
 * makes it. */
export async function runBenchmark(
  gpu: Gpu,
  config: TrainerConfig,
  onProgress: (message: string) => void = () => {},
): Promise<BenchmarkNumbers> {
  onProgress('Probing the peak of this adapter')
  const peak = await probePeak(gpu)
  onProgress('Multiplying matrices')
  const matmul_256_gflops = await productRate(gpu, 256)
  const matmul_512_gflops = await productRate(gpu, 512)
  onProgress('Preparing training steps')
  const trainer = await Trainer.create(gpu, suited(gpu, config))
  await trainer.next() // step 0: nothing is trained
  onProgress('Timing warm-start steps')
  const sft = await timeSteps(trainer)
  trainer.nextPhase()
  onProgress('Timing reinforcement steps')
  const rl = await timeSteps(trainer)
  const phase = trainer.current
  const columns =
    phase.kind === 'rl'
      ? phase.rollout.train_batch_size * phase.rollout.n * phase.rollout.max_response_length
      : 0
  return {
    peak_gflops: peak.gflops,
    peak_gbps: peak.gbps,
    matmul_256_gflops,
    matmul_512_gflops,
    sft_steps_per_second: sft.rate,
    rl_steps_per_second: rl.rate,
    rollout_tokens_per_second: columns / rl.genS,
  }
}
