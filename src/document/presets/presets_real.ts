// Lists settings to begin with for models from elsewhere. They carry the model's sizes and its
// name; its hash comes with “Train from it”, when a person has opened it
// (content/models/unopened.ts).
import { type Preset, preset } from './preset.ts'

export const REAL_PRESETS: readonly Preset[] = [
  preset('smollm2-135m-countdown', 'SmolLM2-135M, LoRA, RLOO', {
    task: { id: 'countdown' },
    model: {
      enable_gradient_checkpointing: true,
      dtype: 'bfloat16',
      source_name: 'HuggingFaceTB/SmolLM2-135M-Instruct',
      model_type: 'llama',
      vocab_size: 49152,
      hidden_size: 576,
      num_hidden_layers: 30,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      head_dim: 64,
      intermediate_size: 1536,
      rms_norm_eps: 0.00001,
      rope_theta: 100000,
      lora: { r: 8, lora_alpha: 16 },
    },
    phases: [
      { kind: 'sft', steps: 100, batch_size: 32, optim: { lr: 0.0002, lr_warmup_steps: 10 } },
      { kind: 'rl', steps: 100, adv_estimator: 'rloo' },
    ],
    rollout: { train_batch_size: 8, n: 8, max_response_length: 64, dtype: 'float16' },
    actor: { ppo_mini_batch_size: 8, optim: { lr: 0.0001, lr_warmup_steps: 5 } },
    validation: { prompts: 64, n: 1 },
    probe: { rows: 8 },
  }),
  preset('qwen3-0-6b-gsm8k', 'Qwen3-0.6B, LoRA of rank 1, GRPO', {
    task: { id: 'countdown' },
    model: {
      enable_gradient_checkpointing: true,
      dtype: 'bfloat16',
      source_name: 'Qwen/Qwen3-0.6B',
      model_type: 'qwen3',
      vocab_size: 151936,
      hidden_size: 1024,
      num_hidden_layers: 28,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      intermediate_size: 3072,
      rope_theta: 1000000,
      lora: { r: 1, lora_alpha: 32 },
    },
    phases: [{ kind: 'rl', steps: 56 }],
    rollout: { train_batch_size: 16, n: 4, max_response_length: 256, dtype: 'float16' },
    actor: { ppo_mini_batch_size: 16, optim: { lr: 0.00005, lr_warmup_steps: 3 } },
    validation: { prompts: 32, n: 1 },
    probe: { rows: 4 },
  }),
]
