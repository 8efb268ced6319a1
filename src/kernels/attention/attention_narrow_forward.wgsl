// out_i = sum over j <= i of softmax_j(scale q_i . k_j) v_j for short rows and small heads. One invocation per
// (row, column, head), keys in a plain loop with a running maximum and sum: no barriers, no shared memory.
// A line with $ stands for VECTORS = head_dim / 4 lines, one per vector of a head.
// Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1 of the M in the stream.
//   qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out [M, H D]   lse [M, H]
// uses attention_params.wgsl, attention_narrow_query.wgsl

@group(0) @binding(1) var<storage, read> qkv: array<array<vec4f, VECTORS>>;
@group(0) @binding(2) var<storage, read> attention_mask: array<u32>;
@group(0) @binding(3) var<storage, read> cu_seqlens: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<array<vec4f, VECTORS>>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

const MASKED = -1e30; // far below every score, and finite

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  #narrow_query
  var k = first_token * token_size + heads + head / (heads / kv_heads);

  let q$ = qkv[q][$];
  var sum$ = vec4f();
  let scale = params.scale;
  var row_max = MASKED;
  var row_sum = 0.0;
  let is_token = attention_mask[token] != 0u;
  let key_end = select(first_token, token + 1u, is_token);
  for (var key = first_token; key < key_end; key++) {
    // Scored before it is known whether it is masked: a key costs two waits for memory.
    let at = k;
    k += token_size;
    let k$ = qkv[at][$];
    var products = vec4f();
    products = fma(q$, k$, products);
    let score = (products.x + products.y + products.z + products.w) * scale;
    if (attention_mask[key] != 0u) {
      let v$ = qkv[at + kv_heads][$];
      // One of the two factors is 1: a new maximum shrinks what was summed, else the key gets a smaller weight.
      let factor = exp(-abs(score - row_max));
      let is_new_max = score > row_max;
      let shrink = select(1.0, factor, is_new_max);
      let weight = select(factor, 1.0, is_new_max);
      row_max = max(row_max, score);
      row_sum = fma(row_sum, shrink, weight);
      sum$ = fma(sum$, vec4f(shrink), weight * v$);
    }
  }

  let inverse = select(0.0, 1.0 / row_sum, is_token);
  let at = token * heads + head;
  out[at][$] = sum$ * inverse;
  lse[at] = select(0.0, row_max + log(row_sum), is_token);
}
