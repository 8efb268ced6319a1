// What a fast path saves and what a part of an algorithm costs: reinforcement steps with and without it, in turn.
import { Gpu } from '../../src/kernels/gpu.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { RlPhase } from '../../src/rl/phase.ts'
import { Trainer, type TrainerConfig } from '../../src/rl/trainer.ts'
import { median } from './median.ts'
import { progress } from './progress.ts'
import { rlConfig } from './rl.ts'

/** A way to compute the same, by the trainer's own switches. What `on` and `off` leave out is as everywhere. */
interface FastPath {
  readonly name: string
  readonly on: Partial<TrainerConfig>
  readonly off: Partial<TrainerConfig>
  /** Where responses are of very different lengths; default: the preset's, which are nearly equal. */
  readonly has_long_responses?: boolean
}

const plain_products: MatmulChoice = { '*': 'register_8x8' }

const FAST_PATHS: readonly FastPath[] = [
  {
    name: 'gradient checkpointing (less memory)',
    on: { enable_gradient_checkpointing: true },
    off: {},
  },
  { name: 'products in vectors of four', on: {}, off: { matmul: plain_products } },
  {
    name: 'SwiGLU inside the products',
    on: {},
    off: { fusion: { swiglu: false, bias_gradient: true } },
  },
  {
    name: 'packed rows',
    on: {},
    off: { use_remove_padding: false },
    has_long_responses: true,
  },
]

/** A part of an algorithm, as a change of plain GRPO. */
interface AlgorithmPart {
  readonly name: string
  readonly change: (plain: TrainerConfig, phase: RlPhase) => TrainerConfig
}

const withActor = (change: Partial<RlPhase['actor']>): AlgorithmPart['change'] => {
  return (plain, phase) => ({
    ...plain,
    phases: [{ ...phase, actor: { ...phase.actor, ...change } }],
  })
}

const withAlgorithm = (change: Partial<RlPhase['algorithm']>): AlgorithmPart['change'] => {
  return (plain, phase) => ({
    ...plain,
    phases: [{ ...phase, algorithm: { ...phase.algorithm, ...change } }],
  })
}

const ALGORITHM_PARTS: readonly AlgorithmPart[] = [
  { name: 'KL in the loss', change: withActor({ use_kl_loss: true }) },
  { name: 'KL in the reward', change: withAlgorithm({ use_kl_in_reward: true }) },
  {
    name: 'critic (GAE)',
    change: (plain, phase) => ({ ...plain, phases: [{ ...phase, adv_estimator: 'gae' }] }),
  },
  {
    name: 'rollout correction (weights per token)',
    change: (plain, phase) => {
      const { rollout_correction } = phase.algorithm
      return withAlgorithm({
        rollout_correction: { ...rollout_correction, rollout_is: 'token' },
      })(plain, phase)
    },
  },
  {
    name: 'probe of every layer in every step',
    change: (plain) => ({ ...plain, probe: { ...plain.probe, freq: 1 } }),
  },
]

/** A software adapter gets a share of the preset's prompts, and fewer steps. */
const AMOUNT = { gpu: { share: 1, steps: 15 }, software: { share: 1 / 4, steps: 3 } }
const WARM_UP = 2
/** R where responses are long; a fresh model ends one after about as many tokens as its vocabulary has. */
const LONG_RESPONSE = 32

/** One step of a configuration. */
export interface StepCost {
  /** Median milliseconds of an awaited step. */
  readonly ms: number
  readonly dispatches: number
  readonly submits: number
  readonly reads: number
  readonly live_bytes: number
}

export interface FeatureRow {
  readonly name: string
  readonly kind: 'fast path' | 'algorithm'
  /** Rows of a step, and the longest response. */
  readonly rows: number
  readonly max_response_length: number
  readonly on: StepCost
  readonly off: StepCost
}

/** A trainer under way. */
interface Candidate {
  readonly gpu: Gpu
  readonly trainer: Trainer
  readonly samples: number[]
  counts: { dispatches: number; submits: number; reads: number }
}

interface Pair {
  readonly name: string
  readonly kind: FeatureRow['kind']
  readonly on: TrainerConfig
  readonly off: TrainerConfig
}

/** Every pair of configurations on `share` of the preset's prompts. */
function pairsOf(preset_id: string, share: number): Pair[] {
  const { config, phase: whole } = rlConfig(preset_id)
  const { train_batch_size, n } = whole.rollout
  const prompts = Math.ceil(train_batch_size * share)
  const ppo_mini_batch_size = Math.ceil(whole.actor.ppo_mini_batch_size * share)
  const phaseOf = (max_response_length: number): RlPhase => ({
    ...whole,
    steps: 1e6,
    rollout: { ...whole.rollout, train_batch_size: prompts, n, max_response_length },
    actor: { ...whole.actor, ppo_mini_batch_size },
  })
  const phase = phaseOf(whole.rollout.max_response_length)
  const plain = { ...config, phases: [phase] }
  const long = { ...config, phases: [phaseOf(LONG_RESPONSE)] }
  return [
    ...FAST_PATHS.map(({ name, on, off, has_long_responses }): Pair => {
      const base = has_long_responses ? long : plain
      return { name, kind: 'fast path', on: { ...base, ...on }, off: { ...base, ...off } }
    }),
    ...ALGORITHM_PARTS.map(
      ({ name, change }): Pair => ({
        name,
        kind: 'algorithm',
        on: change(plain, phase),
        off: plain,
      }),
    ),
  ]
}

/** Equal configurations are measured once. Tasks and tokenizers are all the preset's. */
const keyOf = ({ task: _, tokenizer: __, ...rest }: TrainerConfig): string => JSON.stringify(rest)

async function open(config: TrainerConfig): Promise<Candidate> {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, config)
  for (let i = 0; i < WARM_UP; i++) await trainer.next()
  await gpu.finish()
  const { dispatches, submits, reads } = gpu.counts
  return { gpu, trainer, samples: [], counts: { dispatches, submits, reads } }
}

function costOf({ gpu, samples, counts }: Candidate): StepCost {
  const per_step = (name: keyof Candidate['counts']) =>
    (gpu.counts[name] - counts[name]) / samples.length
  return {
    ms: median(samples),
    dispatches: per_step('dispatches'),
    submits: per_step('submits'),
    reads: per_step('reads'),
    live_bytes: gpu.counts.live_bytes,
  }
}

/** Steps of all configurations in turn, from the same new weights, so that what else the machine does hits all alike. */
export async function benchFeatures(preset_id: string): Promise<FeatureRow[]> {
  const probe = await Gpu.open()
  const { share, steps } = AMOUNT[probe.facts.is_software ? 'software' : 'gpu']
  probe.destroy()
  const pairs = pairsOf(preset_id, share)
  const configs = new Map(pairs.flatMap(({ on, off }) => [on, off]).map((c) => [keyOf(c), c]))
  const candidates = new Map<string, Candidate>()
  for (const [key, config] of configs) {
    progress(`configuration ${candidates.size + 1} of ${configs.size}`)
    candidates.set(key, await open(config))
  }
  progress(`${steps} steps of each`)
  for (let i = 0; i < steps; i++)
    for (const { trainer, samples } of candidates.values()) {
      const start = performance.now()
      await trainer.next()
      samples.push(performance.now() - start)
    }
  const cost = (config: TrainerConfig): StepCost => {
    const candidate = candidates.get(keyOf(config))
    if (!candidate) throw new Error('features: a configuration was not measured')
    return costOf(candidate)
  }
  const rows = pairs.map(({ name, kind, on, off }): FeatureRow => {
    const [{ rollout }] = on.phases as readonly RlPhase[]
    const { train_batch_size, n, max_response_length } = rollout
    const rows = train_batch_size * n
    return { name, kind, rows, max_response_length, on: cost(on), off: cost(off) }
  })
  for (const { trainer } of candidates.values()) trainer.destroy()
  return rows
}
