// The params of attention over whole rows, forward and backward.

struct Params {
  rows: u32,
  width: u32,
  num_attention_heads: u32,
  num_key_value_heads: u32,
  head_dim: u32,
  scale: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
