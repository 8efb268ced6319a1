// Says what every trainer of TRL is told of a phase that has an optimizer of its own, and what it
// leaves out. Source: transformers 5.18.0.
import type {
  DistillDocument,
  PreferenceDocument,
} from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Note } from './carry.ts'

type Own = PreferenceDocument | DistillDocument

/** Everything but the objective: optimizer, schedule, batches and logging. */
export function trainingArguments(
  { model }: Experiment,
  { optim, grad_clip }: Own,
  { steps, batch }: { readonly steps: number; readonly batch: number },
): Readonly<Record<string, unknown>> {
  const isCosine = optim.lr_scheduler_type === 'cosine'
  return {
    max_steps: steps,
    per_device_train_batch_size: batch,
    gradient_accumulation_steps: 1,
    optim: 'adamw_torch',
    adam_epsilon: 1e-8,
    learning_rate: optim.lr,
    warmup_steps: optim.lr_warmup_steps ?? 0,
    lr_scheduler_type: isCosine ? 'cosine_with_min_lr' : 'constant_with_warmup',
    lr_scheduler_kwargs: isCosine ? { min_lr_rate: optim.min_lr_ratio } : undefined,
    adam_beta1: optim.betas[0],
    adam_beta2: optim.betas[1],
    weight_decay: optim.weight_decay,
    max_grad_norm: grad_clip,
    gradient_checkpointing: model.enable_gradient_checkpointing,
    bf16: false,
    logging_steps: 1,
    save_strategy: 'no',
    report_to: 'none',
  }
}

/** Whether something can be run, or is told; where it cannot, the field, its value and why. */
export type Judged = readonly [holds: boolean, path: string, value: Note['value'], why: string]

/** Those that do not hold. */
export const notesOf = (judged: readonly Judged[]): Note[] =>
  judged.filter(([holds]) => !holds).map(([, path, value, why]) => ({ path, value, why }))

/** What no such trainer can run. */
export const trainingRefusals = ({ optim, target_layer }: Own, at: string): readonly Judged[] => [
  [
    target_layer === 'final',
    `${at}.target_layer`,
    target_layer,
    'TRL trains the whole model’s policy alone; train an inner layer here',
  ],
  [
    optim.lr_warmup_steps !== null || optim.lr_warmup_steps_ratio === 0,
    `${at}.optim.lr_warmup_steps_ratio`,
    optim.lr_warmup_steps_ratio,
    'write the warm-up in steps (optim.lr_warmup_steps)',
  ],
  [
    optim.optimizer === 'AdamW',
    `${at}.optim.optimizer`,
    optim.optimizer,
    'the job tells TRL its AdamW; choose AdamW',
  ],
]

/** What every such trainer leaves out. */
export const trainingLosses = (
  { validation, probe }: Experiment,
  { optim, stop }: Own,
  at: string,
  heldOut: string,
): readonly Judged[] => [
  [
    stop.accuracy === null,
    `${at}.stop.accuracy`,
    stop.accuracy,
    'it does not stop by itself when held-out accuracy is reached',
  ],
  [
    optim.weight_decay === 0 || !optim.decay_norms,
    `${at}.optim.decay_norms`,
    true,
    'it decays no norms and no biases',
  ],
  [validation.test_freq === null, 'validation.prompts', validation.prompts, heldOut],
  [probe.freq === null, 'probe.freq', probe.freq, 'it measures no entropies of inner layers'],
]
