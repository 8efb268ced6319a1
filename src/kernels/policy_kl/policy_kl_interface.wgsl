// Declares what both kernels read and write: hidden_p, hidden_q [tokens, C], weight [V, C], mask,
// kl_pq, kl_qp [tokens].

struct Params {
  tokens: u32,
  hidden_size: u32,
  vocab_size: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden_p: array<f32>;
@group(0) @binding(2) var<storage, read> hidden_q: array<f32>;
@group(0) @binding(3) var<storage, read> weight: array<Weight>;
@group(0) @binding(4) var<storage, read> mask: array<f32>;
@group(0) @binding(5) var<storage, read_write> kl_pq: array<f32>;
@group(0) @binding(6) var<storage, read_write> kl_qp: array<f32>;
