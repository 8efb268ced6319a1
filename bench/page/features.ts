// Measures what a fast path saves and what a part of an algorithm costs: reinforcement steps with
// and without it, in turn.
import { Gpu } from '../../src/kernels/device/gpu.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { TrainerConfig } from '../../src/rl/config/trainer_config.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { Trainer } from '../../src/rl/train/trainer.ts'
import { median } from './median.ts'
import { progress } from './progress.ts'
import { rlConfig } from './rl.ts'

/** A faster way to the same result, switched by the trainer's own settings. What `on` and `off`
 * leave out keeps its default. */
interface FastPath {
  readonly name: string
  readonly on: Partial<TrainerConfig>
  readonly off: Partial<TrainerConfig>
  /** For responses of very different lengths; default: the preset's, which are nearly equal. */
  readonly hasLongResponses?: boolean
}

const FUSED = { swiglu: true, biasGradient: true } as const
const plainProducts: MatmulChoice = { '*': 'register_8x8' }

const FAST_PATHS: readonly FastPath[] = [
  {
    name: 'gradient checkpointing (less memory)',
    on: { enable_gradient_checkpointing: true },
    off: {},
  },
  { name: 'products in vectors of four', on: {}, off: { matmul: plainProducts } },
  {
    name: 'SwiGLU inside the products',
    on: {},
    off: { fusion: { ...FUSED, swiglu: false } },
  },
  {
    name: 'a decoded token in one dispatch',
    on: { fusion: { ...FUSED, decodeToken: true } },
    off: { fusion: { ...FUSED, decodeToken: false } },
  },
  {
    name: 'packed rows',
    on: {},
    off: { use_remove_padding: false },
    hasLongResponses: true,
  },
]

type Change = (config: TrainerConfig, phase: RlPhase) => TrainerConfig

/** A part of an algorithm, as a change of plain GRPO. */
interface AlgorithmPart {
  readonly name: string
  readonly change: Change
  /** What it is compared with; absent: plain GRPO. */
  readonly without?: Change
}

const withPhase =
  (change: (phase: RlPhase) => Partial<RlPhase>): Change =>
  (config, phase) => ({ ...config, phases: [{ ...phase, ...change(phase) }] })

const withActor = (change: Partial<RlPhase['actor']>): Change =>
  withPhase(({ actor }) => ({ actor: { ...actor, ...change } }))

const withAlgorithm = (change: Partial<RlPhase['algorithm']>): Change =>
  withPhase(({ algorithm }) => ({ algorithm: { ...algorithm, ...change } }))

const withCorrection = (change: Partial<RlPhase['algorithm']['rollout_correction']>): Change =>
  withPhase(({ algorithm }) => ({
    algorithm: {
      ...algorithm,
      rollout_correction: { ...algorithm.rollout_correction, ...change },
    },
  }))

/** One step of a reward model before the phase that it scores. */
const withRewardModel: Change = (config, phase) => {
  const { actor } = phase
  const pairs = { source: 'judge', count: 8, held_out: 1, min_pairs: 1, verdicts: [] } as const
  const { grad_clip, optim } = actor
  return {
    ...config,
    // This score differs between any two responses of a new model.
    task: {
      ...config.task,
      score: (prompt, response) => response.length + config.task.score(prompt, response),
    },
    phases: [
      {
        kind: 'reward_model',
        name: 'reward model',
        steps: 1,
        batch_size: 8,
        grad_clip,
        optim,
        pairs: { ...pairs, temperature: 1 },
      },
      { ...phase, reward_model: { enable: true } },
    ],
  }
}

/** A step that evaluates a single prompt. */
const evaluated =
  (internals: boolean): Change =>
  (config) => ({
    ...config,
    validation: { test_freq: 1, prompts: 1, n: 0 },
    probe: { ...config.probe, internals },
  })

const ALGORITHM_PARTS: readonly AlgorithmPart[] = [
  { name: 'KL in the loss', change: withActor({ use_kl_loss: true }) },
  { name: 'KL in the reward', change: withAlgorithm({ use_kl_in_reward: true }) },
  { name: 'entropy bonus', change: withActor({ entropy_coeff: 0.01 }) },
  { name: 'critic (GAE)', change: withPhase(() => ({ adv_estimator: 'gae' })) },
  { name: 'greedy baseline (ReMax)', change: withPhase(() => ({ adv_estimator: 'remax' })) },
  {
    name: 'optimal token baseline',
    change: withPhase(() => ({ adv_estimator: 'optimal_token_baseline' })),
  },
  { name: 'reward model', change: withRewardModel },
  {
    name: 'dynamic sampling, one more batch',
    // Responses of a new model are all wrong, so every step reaches the limit.
    change: withAlgorithm({
      filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 2 },
    }),
  },
  {
    name: 'rollout correction (weights per token)',
    change: withCorrection({ rollout_is: 'token' }),
  },
  {
    name: 'rollout correction (rejection)',
    change: withCorrection({ rollout_rs: 'seq_mean_k1', rollout_rs_threshold: '0.5_2' }),
  },
  {
    name: 'rollout correction (bypass, reinforce)',
    change: withCorrection({ bypass_mode: true, loss_type: 'reinforce', rollout_is: 'token' }),
  },
  { name: 'clip_cov', change: withActor({ loss_mode: 'clip_cov' }) },
  { name: 'a second epoch', change: withActor({ ppo_epochs: 2 }) },
  { name: 'batch in even lengths', change: withAlgorithm({ balance_batch: true }) },
  {
    name: 'inner layer, half of the blocks',
    change: (config, phase) => {
      const target_layer = Math.ceil(config.model.num_hidden_layers / 2)
      return { ...config, phases: [{ ...phase, target_layer }] }
    },
  },
  {
    name: 'another rate above a layer',
    change: withPhase(() => ({ lr_factor_above: { layer: 1, factor: 0.1 } })),
  },
  {
    name: 'probe of every layer in every step',
    change: (config) => ({ ...config, probe: { ...config.probe, freq: 1 } }),
  },
  {
    name: 'entropy changes, in a step that evaluates',
    change: evaluated(true),
    without: evaluated(false),
  },
]

/** A software adapter gets a share of the preset's prompts, and fewer steps. */
const AMOUNT = { gpu: { share: 1, steps: 15 }, software: { share: 1 / 4, steps: 3 } }
const WARM_UP = 2
/** R for long responses: a new model ends one after about as many tokens as its vocabulary has. */
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

/** A trainer that has begun. */
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
function pairsOf(presetId: string, share: number): Pair[] {
  const { config, phase: whole } = rlConfig(presetId)
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
    ...FAST_PATHS.map(({ name, on, off, hasLongResponses }): Pair => {
      const base = hasLongResponses ? long : plain
      return { name, kind: 'fast path', on: { ...base, ...on }, off: { ...base, ...off } }
    }),
    ...ALGORITHM_PARTS.map(
      ({ name, change, without }): Pair => ({
        name,
        kind: 'algorithm',
        on: change(plain, phase),
        off: without ? without(plain, phase) : plain,
      }),
    ),
  ]
}

/** Equal configurations are measured once. Their phases tell them apart, whatever the task. */
const keyOf = ({ task: _, ...rest }: TrainerConfig): string => JSON.stringify(rest)

async function open(config: TrainerConfig): Promise<Candidate> {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, suited(gpu, config))
  // Phases before the last have one step each.
  for (let i = 1; i < WARM_UP + config.phases.length; i++) await trainer.next()
  await gpu.finish()
  const { dispatches, submits, reads } = gpu.counts
  return { gpu, trainer, samples: [], counts: { dispatches, submits, reads } }
}

function costOf({ gpu, samples, counts }: Candidate): StepCost {
  const perStep = (name: keyof Candidate['counts']) =>
    (gpu.counts[name] - counts[name]) / samples.length
  return {
    ms: median(samples),
    dispatches: perStep('dispatches'),
    submits: perStep('submits'),
    reads: perStep('reads'),
    live_bytes: gpu.counts.live_bytes,
  }
}

/** Steps of all configurations in turn, from the same new weights, so that other load on the
 * machine affects all alike. */
export async function benchFeatures(presetId: string): Promise<FeatureRow[]> {
  const probe = await Gpu.open()
  const { share, steps } = AMOUNT[probe.facts.is_software ? 'software' : 'gpu']
  probe.destroy()
  const pairs = pairsOf(presetId, share)
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
    const { rollout } = on.phases[on.phases.length - 1] as RlPhase
    const { train_batch_size, n, max_response_length } = rollout
    const rows = train_batch_size * n
    return { name, kind, rows, max_response_length, on: cost(on), off: cost(off) }
  })
  for (const { trainer } of candidates.values()) trainer.destroy()
  return rows
}
