// How a model's weights are updated.

/** AdamW and its learning-rate schedule; verl's `optim` block. */
export interface Optim {
  /** Peak learning rate. */
  readonly lr: number
  /** Steps from 0 to the peak; step 0 of a warm-up has rate 0, as in verl. Below 0 = by
   * `lr_warmup_steps_ratio`. */
  readonly lr_warmup_steps: number
  /** Warm-up as a share of all steps of the schedule, cut off to whole steps; default 0. */
  readonly lr_warmup_steps_ratio?: number
  readonly lr_scheduler_type: 'constant' | 'cosine'
  /** Floor of the cosine, as a share of `lr`. */
  readonly min_lr_ratio: number
  readonly betas: readonly [number, number]
  readonly weight_decay: number
  /** Whether weight decay acts on vectors, the weights of norms and biases, too; default true, as
   * in verl. Hugging Face's trainers, TRL's among them, leave them out (transformers
   * Trainer.get_decay_parameter_names). */
  readonly decay_norms?: boolean
}

/** The decay of matrices, and that of norms and biases. */
export const weightDecays = ({ weight_decay, decay_norms = true }: Optim) => ({
  weight_decay,
  vector_weight_decay: decay_norms ? weight_decay : 0,
})
