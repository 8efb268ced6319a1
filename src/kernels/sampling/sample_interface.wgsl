// Declares what both samplers read and write. The shapes are in their heads.

struct Params {
  rows: u32,
  n: u32,
  row_offset: u32,
  vocab_size: u32,
  response_length: u32,
  position: u32,
  width: u32,
  column: u32,
  temperature: f32,
  top_k: u32,
  top_p: f32,
  seed_low: u32,
  seed_high: u32,
  step: u32,
  eos_count: u32,
  pad_token_id: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> eos_token_ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> ended: array<u32>;
@group(0) @binding(4) var<storage, read_write> response_ids: array<u32>;
@group(0) @binding(5) var<storage, read_write> rollout_log_probs: array<f32>;
@group(0) @binding(6) var<storage, read_write> rollout_entropy: array<f32>;
@group(0) @binding(7) var<storage, read_write> next_ids: array<u32>;
@group(0) @binding(8) var<storage, read_write> attention_mask: array<u32>;
