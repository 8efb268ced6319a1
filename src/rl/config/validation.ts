// Declares what a run measures beside its training: held-out accuracy and the entropy of every
// layer.

/** Held-out evaluation. */
export interface Validation {
  /** Interval in steps of any phase; the last step of each phase is evaluated too; 0 = never. */
  readonly test_freq: number
  /** Held-out prompts; never more than the task holds out (validationPrompts). */
  readonly prompts: number
  /** Sampled responses per held-out prompt; greedy decoding is one more. */
  readonly n: number
  /** What divides the logits of sampled responses; verl's val_kwargs.temperature. 0, the default:
   * the last rl phase's own. */
  readonly temperature?: number
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
  val_before_train === 'auto' ? test_freq > 0 : val_before_train === 'enable'

/** Whether any step is evaluated. */
export const everValidates = (
  validation: Pick<Validation, 'val_before_train' | 'test_freq'>,
): boolean => validation.test_freq > 0 || validatesBefore(validation)

/** How much of each step's batch the per-layer entropies are measured on. */
export interface Probe {
  /** Interval in steps; 0 = never. */
  readonly freq: number
  /** Rows of the batch. */
  readonly rows: number
  /** Measure the entropy changes of every layer's modules too, on steps that validate
   * (layer_changes.ts); default false. */
  readonly internals?: boolean
}
