// Makes small experiments for tests.
import { TINY, testBatch } from '../model/testing.ts'
import type { Task } from '../tasks/task/task.ts'
import { arithmetic } from '../tasks/tokenizers/arithmetic.ts'
import { ACTOR_DEFAULTS } from './config/actor.ts'
import { ALGORITHM_DEFAULTS } from './config/algorithm.ts'
import { CRITIC } from './config/critic.ts'
import type { Optim } from './config/optim.ts'
import type { RewardModelPhase, RlPhase, SftPhase } from './config/phase.ts'
import type { TrainerConfig } from './config/trainer_config.ts'
import type { RolloutBatch } from './experience/batch.ts'
import { defaultsOf } from './fields/field.ts'

export const OPTIM: Optim = {
  lr: 2e-3,
  lr_warmup_steps: 0,
  lr_scheduler_type: 'constant',
  min_lr_ratio: 0,
  betas: [0.9, 0.95],
  weight_decay: 0,
}

export const SFT: SftPhase = {
  kind: 'sft',
  name: 'warm start',
  steps: 3,
  batch_size: 8,
  grad_clip: 1,
  optim: OPTIM,
}

export const RL: RlPhase = {
  kind: 'rl',
  name: 'rl',
  steps: 3,
  adv_estimator: 'grpo',
  target_layer: 3,
  rollout: {
    train_batch_size: 4,
    n: 4,
    temperature: 1,
    top_p: 1,
    top_k: null,
    max_response_length: 3,
  },
  actor: {
    ...ACTOR_DEFAULTS,
    ppo_mini_batch_size: 2,
    ppo_epochs: 1,
    clip_ratio_low: 0.2,
    clip_ratio_high: 0.2,
    clip_ratio_c: 3,
    grad_clip: 1,
    optim: OPTIM,
  },
  critic: { ...defaultsOf(CRITIC), optim: OPTIM },
  algorithm: ALGORITHM_DEFAULTS,
  reward_model: { enable: false },
}

export const REWARD_MODEL: RewardModelPhase = {
  kind: 'reward_model',
  name: 'reward model',
  steps: 3,
  batch_size: 4,
  grad_clip: 1,
  optim: OPTIM,
  pairs: {
    source: 'judge',
    count: 10,
    held_out: 5,
    temperature: 1,
    min_pairs: 4,
    verdicts: [],
  },
}

/** Echo a digit: any response of the same digit and an end token is right. Parity makes half of
 * random answers right. */
export const PARITY: Task = {
  id: 'parity',
  tokenizer: arithmetic,
  max_prompt_length: 3,
  max_response_length: 3,
  test_size: 10,
  train_size: 10,
  exact_match: false,
  sample: (seed, index, split) => {
    const digit = (seed * 7 + index * 3 + (split === 'test' ? 5 : 0)) % 10
    return {
      prompt: index % 2 ? `${digit}=` : `${digit}+=`,
      ground_truth: `${digit}`,
      demonstration: `${digit}`,
    }
  },
  // Something random weights get right now and then: the response begins with a token of even id.
  score: (_, response) =>
    response.length > 0 && arithmetic.encode(response.replaceAll(/<pad>/g, '0'))[0] % 2 ? 1 : 0,
}

export const CONFIG: TrainerConfig = {
  seed: 1,
  task: PARITY,
  model: {
    model_type: 'qwen3',
    vocab_size: arithmetic.vocab_size,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 3,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: true,
  },
  phases: [SFT, RL],
  validation: { test_freq: null, prompts: 10, n: 1 },
  probe: { freq: 1, rows: 8 },
}

/** A fixed batch of made-up responses of TINY: nothing is sampled, so that a rounding cannot change
 * what is learned from. */
export function madeUpBatch(
  lengths: readonly { readonly prompt: number; readonly response: number }[],
  { P, R, seed }: { P: number; R: number; seed: number },
): RolloutBatch {
  return {
    ...testBatch(lengths, { P, R, vocab_size: TINY.vocab_size, seed }),
    prompt_length: P,
    response_length: R,
    response_lengths: Uint32Array.from(lengths, ({ response }) => response),
    is_ended: lengths.map(() => true),
  }
}
