// What a phase of an experiment is once every default is filled in: the trainer's whole configuration.

/** AdamW and its learning-rate schedule; verl's `optim` block. */
export interface Optim {
  /** Peak learning rate. */
  readonly lr: number
  /** Steps from 0 to the peak; step 0 of a warm-up has rate 0, as in verl. */
  readonly lr_warmup_steps: number
  readonly lr_scheduler_type: 'constant' | 'cosine'
  /** Floor of the cosine, as a share of `lr`. */
  readonly min_lr_ratio: number
  readonly betas: readonly [number, number]
  readonly weight_decay: number
}

/** How responses are sampled. */
export interface Rollout {
  /** N: prompts per step. */
  readonly train_batch_size: number
  /** G: responses per prompt; B = N · G rows. */
  readonly n: number
  readonly temperature: number
  /** 1 = off. */
  readonly top_p: number
  /** -1 = off. */
  readonly top_k: number
  /** R: tokens generated at most, end token included. */
  readonly max_response_length: number
}

export interface Actor {
  /** Prompts per optimizer step; times G rows. */
  readonly ppo_mini_batch_size: number
  readonly ppo_epochs: number
  readonly clip_ratio_low: number
  readonly clip_ratio_high: number
  /** Dual clip: for negative advantages the loss is at most -A · c. */
  readonly clip_ratio_c: number
  readonly loss_mode: 'vanilla'
  readonly loss_agg_mode: 'token-mean'
  readonly entropy_coeff: number
  /** Largest global gradient norm. */
  readonly grad_clip: number
  readonly optim: Optim
}

export interface Algorithm {
  readonly norm_adv_by_std_in_grpo: boolean
}

/** Supervised warm start on the task's demonstrations: mean cross-entropy over answer and end token. */
export interface SftPhase {
  readonly kind: 'sft'
  readonly name: string
  readonly steps: number
  /** Demonstrations per step. */
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
}

/** Reinforcement learning of one layer's policy; the last layer's is the model's own. */
export interface RlPhase {
  readonly kind: 'rl'
  readonly name: string
  readonly steps: number
  readonly adv_estimator: 'grpo'
  /** Blocks applied before the unembedding, 1…L; L is the final policy (with the final norm). */
  readonly target_layer: number
  readonly rollout: Rollout
  readonly actor: Actor
  readonly algorithm: Algorithm
}

export type Phase = SftPhase | RlPhase

/** Held-out evaluation. */
export interface Validation {
  /** Every so many steps of any phase; 0 = never. Also before the first step and after the last of each phase. */
  readonly test_freq: number
  /** Held-out prompts. */
  readonly prompts: number
  /** Sampled responses per held-out prompt; greedy decoding is one more. */
  readonly n: number
}

/** How much of each step's batch the per-layer entropies are measured on. */
export interface Probe {
  /** Every so many steps; 0 = never. */
  readonly freq: number
  /** Rows of the batch. */
  readonly rows: number
}
