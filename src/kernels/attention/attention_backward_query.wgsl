// d_q_i = scale sum over j <= i of p_ij (d_out_i . v_j - delta_i) k_j, with p_ij = exp(scale q_i .
// k_j - lse_i) and delta_i = d_out_i . out_i. One workgroup per (row, head, 16 queries, 64
// channels); keys pass by in tiles of 32. Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1
// of the M in the stream.
//   qkv, d_qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out, d_out [M, H D]
//   lse [M, H]
// uses attention_query_tile.wgsl

const QUERIES = 16u;
const KEYS = 32u;
const DIMS = 16u; // head dims staged at a time
const CHANNELS = 64u; // channels of d_q per workgroup
override CHUNKS: u32 = 4u; // of 16 channels: those of a head, at most 4

// Tiles are dimension-major; 17 and 33 keep lanes in different memory banks.
var<workgroup> query_tile: array<f32, DIMS * 17u>;
var<workgroup> d_out_tile: array<f32, DIMS * 17u>;
var<workgroup> key_tile: array<f32, DIMS * 33u>;
var<workgroup> value_tile: array<f32, DIMS * 33u>;
var<workgroup> d_scores: array<f32, QUERIES * 33u>;
var<workgroup> delta_parts: array<f32, QUERIES * 4u>;

// Four neighbouring values. attention.ts binds vectors of four where heads have whole ones.
fn qkv_at(i: u32) -> vec4f { return vec4f(qkv[i], qkv[i + 1u], qkv[i + 2u], qkv[i + 3u]); }
fn d_out_at(i: u32) -> vec4f { return vec4f(d_out[i], d_out[i + 1u], d_out[i + 2u], d_out[i + 3u]); }

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

  let own_token = first_token + min(first_query + query, length - 1u);
  var delta_part = 0.0;
  for (var d = part; d < dim; d += 4u) {
    let at = (own_token * heads + head) * dim + d;
    delta_part = fma(d_out_at(at - part)[part], out[at], delta_part);
  }
  delta_parts[lane] = delta_part; // read after the barriers below

  var sums: array<vec4f, 4>;
  let key_end = min(first_query + QUERIES, length);
  for (var first_key = 0u; first_key < key_end; first_key += KEYS) {
    var qk = array<vec2f, 4>();
    var dv = array<vec2f, 4>();
    for (var first_dim = 0u; first_dim < dim; first_dim += DIMS) {
      workgroupBarrier();
      let d = lane % 4u * 4u;
      let t = lane / 4u;
      let in_token = min(first_dim + d, dim - 1u);
      let query_token = first_token + min(first_query + t, length - 1u);
      let key_token = first_token + min(first_key + t, length - 1u);
      let next_token = first_token + min(first_key + t + 16u, length - 1u);
      let q4 = in_head(qkv_at(query_token * token_size + head * dim + in_token), first_dim + d);
      let g4 = in_head(d_out_at((query_token * heads + head) * dim + in_token), first_dim + d);
      let k4 = in_head(qkv_at(key_token * token_size + k_offset + in_token), first_dim + d);
      let v4 = in_head(qkv_at(key_token * token_size + v_offset + in_token), first_dim + d);
      let next_k4 = in_head(qkv_at(next_token * token_size + k_offset + in_token), first_dim + d);
      let next_v4 = in_head(qkv_at(next_token * token_size + v_offset + in_token), first_dim + d);
      for (var e = 0u; e < 4u; e++) {
        query_tile[(d + e) * 17u + t] = q4[e];
        d_out_tile[(d + e) * 17u + t] = g4[e];
        key_tile[(d + e) * 33u + t] = k4[e];
        value_tile[(d + e) * 33u + t] = v4[e];
        key_tile[(d + e) * 33u + t + 16u] = next_k4[e];
        value_tile[(d + e) * 33u + t + 16u] = next_v4[e];
      }
      workgroupBarrier();
      for (var d = 0u; d < DIMS; d++) {
        let k = vec2f(key_tile[d * 33u + score_key], key_tile[d * 33u + score_key + 16u]);
        let v = vec2f(value_tile[d * 33u + score_key], value_tile[d * 33u + score_key + 16u]);
        for (var a = 0u; a < 4u; a++) {
          qk[a] = fma(vec2f(query_tile[d * 17u + score_query + a]), k, qk[a]);
          dv[a] = fma(vec2f(d_out_tile[d * 17u + score_query + a]), v, dv[a]);
        }
      }
    }
    for (var a = 0u; a < 4u; a++) {
      let q = score_query + a;
      let column = min(first_query + q, length - 1u);
      let is_query = attention_mask[first_token + column] != 0u;
      let query_lse = lse[(first_token + column) * heads + head];
      let delta = delta_parts[q * 4u] + delta_parts[q * 4u + 1u] + delta_parts[q * 4u + 2u] + delta_parts[q * 4u + 3u];
      for (var b = 0u; b < 2u; b++) {
        let key = score_key + b * 16u;
        let is_key = attention_mask[first_token + min(first_key + key, length - 1u)] != 0u;
        let attends = is_query && is_key && first_key + key <= column;
        let prob = exp(select(0.0, qk[a][b] * params.scale - query_lse, attends));
        d_scores[q * 33u + key] = select(0.0, prob * (dv[a][b] - delta), attends);
      }
    }
    workgroupBarrier();

    for (var key = 0u; key < min(KEYS, key_end - first_key); key++) {
      let d_score = d_scores[query * 33u + key];
      let base = (first_token + first_key + key) * token_size + k_offset + first_channel;
      // Past head_dim these read a neighbour's values; they are never stored.
      for (var c = 0u; c < CHUNKS; c++) { sums[c] = fma(vec4f(d_score), qkv_at(base + c * 16u), sums[c]); }
    }
  }

  if (first_query + query < length) {
    for (var c = 0u; c < 4u; c++) {
      for (var e = 0u; e < 4u; e++) {
        let channel = first_channel + c * 16u + e;
        if (channel < dim) { d_qkv[own_token * token_size + head * dim + channel] = params.scale * sums[c][e]; }
      }
    }
  }
}
