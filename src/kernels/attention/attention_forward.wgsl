// out_i = sum over j <= i of softmax_j(scale q_i . k_j) v_j. One workgroup per (row, head, 16
// queries, 64 channels): keys pass by in tiles of 32 with a running maximum and sum, so no [T, T]
// matrix is ever stored. Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1 of the M in the
// stream.
//   qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out [M, H D]   lse [M, H]
// uses attention_query_tile.wgsl

const QUERIES = 16u;
const KEYS = 32u;
const DIMS = 16u; // head dims staged at a time
const CHANNELS = 64u; // output channels per workgroup
override CHUNKS: u32 = 4u; // of 16 channels: those of a head, at most 4
const MASKED = -1e30; // far below every score, and finite

// Tiles are dimension-major; 17 and 33 keep lanes in different memory banks.
var<workgroup> query_tile: array<f32, DIMS * 17u>;
var<workgroup> key_tile: array<f32, DIMS * 33u>;
var<workgroup> scores: array<f32, QUERIES * 33u>;
var<workgroup> weights: array<f32, QUERIES * 33u>;

// Four neighbouring values. attention.ts binds vectors of four where heads have whole ones.
fn qkv_at(i: u32) -> vec4f { return vec4f(qkv[i], qkv[i + 1u], qkv[i + 2u], qkv[i + 3u]); }

// `values` of channels from d on, with zeros past head_dim.
fn in_head(values: vec4f, d: u32) -> vec4f {
  return select(vec4f(), values, vec4u(d, d + 1u, d + 2u, d + 3u) < vec4u(params.head_dim));
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  #query_tile

  var row_max = MASKED;
  var row_sum = 0.0;
  var sums: array<vec4f, 4>;
  let key_end = min(first_query + QUERIES, length);
  for (var first_key = 0u; first_key < key_end; first_key += KEYS) {
    var dots = array<vec2f, 4>();
    for (var first_dim = 0u; first_dim < dim; first_dim += DIMS) {
      workgroupBarrier();
      let d = lane % 4u * 4u;
      let t = lane / 4u;
      let in_token = min(first_dim + d, dim - 1u);
      let query_token = first_token + min(first_query + t, length - 1u);
      let key_token = first_token + min(first_key + t, length - 1u);
      let next_token = first_token + min(first_key + t + 16u, length - 1u);
      let q4 = in_head(qkv_at(query_token * token_size + head * dim + in_token), first_dim + d);
      let k4 = in_head(qkv_at(key_token * token_size + k_offset + in_token), first_dim + d);
      let next_k4 = in_head(qkv_at(next_token * token_size + k_offset + in_token), first_dim + d);
      for (var e = 0u; e < 4u; e++) {
        query_tile[(d + e) * 17u + t] = q4[e];
        key_tile[(d + e) * 33u + t] = k4[e];
        key_tile[(d + e) * 33u + t + 16u] = next_k4[e];
      }
      workgroupBarrier();
      for (var d = 0u; d < DIMS; d++) {
        let k = vec2f(key_tile[d * 33u + score_key], key_tile[d * 33u + score_key + 16u]);
        for (var a = 0u; a < 4u; a++) {
          dots[a] = fma(vec2f(query_tile[d * 17u + score_query + a]), k, dots[a]);
        }
      }
    }
    for (var b = 0u; b < 2u; b++) {
      let key = score_key + b * 16u;
      let is_key = attention_mask[first_token + min(first_key + key, length - 1u)] != 0u;
      for (var a = 0u; a < 4u; a++) {
        let attends = is_key && first_key + key <= first_query + score_query + a;
        scores[(score_query + a) * 33u + key] = select(MASKED, dots[a][b] * params.scale, attends);
      }
    }
    workgroupBarrier();

    let keys = min(KEYS, key_end - first_key);
    var new_max = row_max;
    for (var key = 0u; key < keys; key++) { new_max = max(new_max, scores[query * 33u + key]); }
    for (var key = part * 8u; key < part * 8u + 8u; key++) {
      let score = scores[query * 33u + key];
      weights[query * 33u + key] = select(exp(score - new_max), 0.0, score == MASKED);
    }
    workgroupBarrier();

    let shrink = exp(row_max - new_max);
    row_max = new_max;
    row_sum *= shrink;
    for (var c = 0u; c < 4u; c++) { sums[c] *= shrink; }
    for (var key = 0u; key < keys; key++) {
      let weight = weights[query * 33u + key];
      row_sum += weight;
      let base = (first_token + first_key + key) * token_size + v_offset + first_channel;
      // Past head_dim these read a neighbour's values; they are never stored.
      for (var c = 0u; c < CHUNKS; c++) { sums[c] = fma(vec4f(weight), qkv_at(base + c * 16u), sums[c]); }
    }
  }

  let column = first_query + query;
  if (column < length) {
    let token = first_token + column;
    let is_token = attention_mask[token] != 0u;
    for (var c = 0u; c < 4u; c++) {
      for (var e = 0u; e < 4u; e++) {
        let channel = first_channel + c * 16u + e;
        if (channel < dim) {
          out[(token * heads + head) * dim + channel] = select(0.0, sums[c][e] / row_sum, is_token);
        }
      }
    }
    if (block == 0u && part == 0u) {
      lse[token * heads + head] = select(0.0, row_max + log(row_sum), is_token);
    }
  }
}
