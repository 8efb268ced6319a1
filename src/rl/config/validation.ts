// Declares what a run measures beside its training: held-out accuracy and the entropy of every
// layer.
import { boolean, integer, number, select, type Tree } from '../fields/field.ts'
import { LOWEST_TEMPERATURE } from './rollout.ts'

/** Held-out evaluation. */
export interface Validation {
  /** Interval in steps of any phase; the last step of each phase is evaluated too; null = never. */
  readonly test_freq: number | null
  /** Held-out prompts; never more than the task holds out (validationPrompts). */
  readonly prompts: number
  /** Sampled responses per held-out prompt; greedy decoding is one more. */
  readonly n: number
  /** What divides the logits of sampled responses; verl's val_kwargs.temperature. null, the
   * default: the last rl phase's own. */
  readonly temperature?: number | null
  /** Whether the model is evaluated before its first step. auto, the default: where later steps
   * are. */
  readonly val_before_train?: 'auto' | 'enable' | 'disable'
  /** Greedy responses of each evaluation that it returns as text, and as many sampled ones; default
   * 0. */
  readonly log_val_generations?: number
}

/** Prompts of an evaluation: each held-out problem at most once. */
export const validationPrompts = (
  { prompts }: Pick<Validation, 'prompts'>,
  { test_size }: { readonly test_size: number },
): number => Math.min(prompts, test_size)

/** Whether step 0 is evaluated. */
export const validatesBefore = ({
  val_before_train = 'auto',
  test_freq,
}: Pick<Validation, 'val_before_train' | 'test_freq'>): boolean =>
  val_before_train === 'auto' ? test_freq !== null : val_before_train === 'enable'

/** Whether any step is evaluated. */
export const everValidates = (
  validation: Pick<Validation, 'val_before_train' | 'test_freq'>,
): boolean => validation.test_freq !== null || validatesBefore(validation)

/** How much of each step's batch the per-layer entropies are measured on. */
export interface Probe {
  /** Interval in steps, counted beside the first one, which is always measured; null = never. */
  readonly freq: number | null
  /** Rows of the batch. */
  readonly rows: number
  /** Measure the entropy changes of every layer's modules too, on steps that validate
   * (layer_changes.ts); default false. */
  readonly internals?: boolean
}

/** The `validation` section. */
export const VALIDATION: Tree<Required<Validation>> = {
  test_freq: integer({
    label: 'Every',
    live: true,
    help: 'Steps between two evaluations on held-out problems; none = never.',
    default: 10,
    none: 0,
    min: 1,
    max: 10000,
    unit: 'steps',
  }),
  prompts: integer({
    label: 'Held-out prompts',
    help: 'Problems that are never trained on and that every evaluation answers, each once; at most as many as the task holds out.',
    default: 512,
    min: 1,
    max: 4096,
    unit: 'prompts',
    scale: 'log',
  }),
  n: integer({
    label: 'Sampled responses',
    help: 'Sampled responses per held-out prompt, besides the greedy one; 0 = greedy only. With 2 or more, best@n and maj@n are measured too.',
    default: 1,
    min: 0,
    max: 32,
    unit: 'responses',
  }),
  temperature: number({
    label: 'Temperature of samples',
    live: true,
    help: 'Divides the logits of the sampled held-out responses; none = as the last phase of reinforcement samples.',
    default: null,
    none: 0,
    min: LOWEST_TEMPERATURE,
    max: 5,
    step: 0.05,
  }),
  val_before_train: select(
    {
      label: 'Before the first step',
      help: 'Whether the model is also evaluated before it is trained.',
    },
    { auto: 'where steps are evaluated', enable: 'yes', disable: 'no' },
  ),
  log_val_generations: integer({
    label: 'Answers kept',
    live: true,
    help: 'How many greedy and how many sampled answers of every evaluation are kept to be read; 0 = none.',
    default: 8,
    min: 0,
    max: 128,
    unit: 'responses',
  }),
}

/** The `probe` section. */
export const PROBE: Tree<Required<Probe>> = {
  freq: integer({
    label: 'Every',
    live: true,
    help: 'Steps between two measurements of every layer’s entropy, beside that of the first step; none = never.',
    default: 1,
    none: 0,
    min: 1,
    max: 10000,
    unit: 'steps',
  }),
  rows: integer({
    label: 'Rows',
    help: 'How many responses, taken at even distances from the batch, are measured; all of them when there are fewer.',
    default: 64,
    min: 1,
    max: 1024,
    unit: 'responses',
  }),
  internals: boolean({
    label: 'Entropy changes',
    help: 'Whether it is also measured how attention and feed-forward of every layer change the entropy, on steps that validate.',
    default: false,
  }),
}
