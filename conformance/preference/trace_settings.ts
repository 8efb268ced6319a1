// Reads the settings of TRL's preference trainers when they recorded a trace.
import type { RlPhase } from '../../src/rl/config/phase.ts'
import { GIVEN_GRADIENT } from '../../src/rl/config/preference_policy.ts'
import type { AnswerObjective } from '../../src/rl/preferences/answer_objective.ts'
import { F_DIVERGENCES, type FDivergence } from '../../src/rl/preferences/divergence.ts'
import type {
  PairedLoss,
  TrlTrainer,
  UnpairedLoss,
} from '../../src/rl/preferences/losses/preference_loss.ts'
import { type PairObjective, pairRefusal } from '../../src/rl/preferences/pair_objective.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import { goldenPhase } from '../hf/golden_actor.ts'
import { lossOfTrl, ownNumbers, readNumbers } from './trl_losses.ts'

const TRAINERS = ['DPOTrainer', 'CPOTrainer', 'ORPOTrainer', 'KTOTrainer'] as const

/** Their losses where none is named. */
const DEFAULTS: Readonly<Record<TrlTrainer, string | undefined>> = {
  DPOTrainer: 'sigmoid',
  CPOTrainer: 'sigmoid',
  ORPOTrainer: undefined,
  KTOTrainer: 'kto',
}

/** What a trainer minimises. */
export type TracedObjective =
  | { readonly data: 'pairs'; readonly objective: PairObjective }
  | { readonly data: 'answers'; readonly objective: AnswerObjective }

/** A run: what it minimises, and how a trainer's actor takes its updates. */
export interface TracePlan {
  readonly trained: TracedObjective
  readonly hasReference: boolean
  /** Whether the loss reads prompts too. */
  readonly readsPrompts: boolean
  /** Of passes over one micro-batch. */
  readonly phase: RlPhase
}

const textsOf = (settings: Fields, name: string, fallback: string | undefined) => {
  const value = settings.raw(name) ?? fallback
  return (Array.isArray(value) ? value : [value]) as (string | undefined)[]
}

/** Reads the settings of a run. Throws CaseError for what the lab does not follow. */
export function readTracePlan(run: Fields, rows: number, blocks: number): TracePlan {
  const trainer = run.choice('trainer', TRAINERS)
  const settings = run.fields('settings')
  const trained = readObjective(settings, trainer)
  settings.choice('lr_scheduler_type', ['constant'])
  if (settings.number('adam_epsilon', 1e-8) !== 1e-8)
    throw new CaseError(`${settings.where}.adam_epsilon: expected 1e-8, got another value`)
  // How often, how long and in which order: the trace has the batches.
  settings.ignore('max_steps', 'max_length', 'seed', 'gradient_accumulation_steps')
  settings.ignore('per_device_train_batch_size')
  const optim = {
    lr: settings.number('learning_rate'),
    lr_warmup_steps: 0,
    lr_scheduler_type: 'constant',
    min_lr_ratio: 0,
    betas: [settings.number('adam_beta1'), settings.number('adam_beta2')],
    weight_decay: settings.number('weight_decay'),
    decay_norms: false,
  } as const
  const grad_clip = settings.number('max_grad_norm')
  const hasReference =
    trained.data === 'answers' || trained.objective.terms[0].loss.score === 'ratio'
  const unread = settings.unused()
  if (unread.length > 0)
    throw new CaseError(`unknown: ${unread.join(', ')} mean nothing to the lab`)
  const actor = { ...GIVEN_GRADIENT, grad_clip, optim }
  const phase = goldenPhase(blocks, { batch: rows, mini: rows }, actor)
  return {
    trained,
    hasReference,
    readsPrompts: trainer === 'ORPOTrainer',
    phase: {
      ...phase,
      algorithm: { ...phase.algorithm, use_kl_in_reward: hasReference },
    },
  }
}

function readObjective(settings: Fields, trainer: TrlTrainer): TracedObjective {
  const where = `${settings.where}.loss_type`
  const names = textsOf(settings, 'loss_type', DEFAULTS[trainer])
  const losses = names.map((name) => lossOfTrl(trainer, name, where))
  const read = losses.flatMap(({ numbers }) => numbers)
  const k = readNumbers(settings, read, true)
  if (losses[0].data === 'answers')
    return { data: 'answers', objective: { loss: losses[0] as UnpairedLoss, k } }
  const weights = settings.has('loss_weights')
    ? settings.vector('loss_weights', losses.length)
    : losses.map(() => 1)
  const isDpo = trainer === 'DPOTrainer'
  const objective: PairObjective = {
    terms: losses.map((loss, i) => ({
      loss: loss as PairedLoss,
      weight: weights[i],
      k: isDpo ? ownNumbers(loss, k) : k,
    })),
    f_divergence_type: isDpo ? divergenceOf(settings) : 'reverse_kl',
    f_alpha_divergence_coef: isDpo ? settings.number('f_alpha_divergence_coef', 0.5) : 0.5,
    ld_alpha: (isDpo ? settings.optionalNumber('ld_alpha') : undefined) ?? null,
    use_weighting: isDpo && settings.flag('use_weighting', false),
    reference_free: false,
  }
  const refusal = pairRefusal(objective)
  if (refusal) throw new CaseError(`${settings.where}.${refusal}`)
  return { data: 'pairs', objective }
}

const divergenceOf = (settings: Fields): FDivergence =>
  settings.choice('f_divergence_type', F_DIVERGENCES, 'reverse_kl')
