// d_v_j = sum p_ij d_out_i and d_k_j = scale sum p_ij (d_out_i . v_j - delta_i) q_i, over i >= j
// and the group's query heads, in that fixed order. One workgroup per (row, key/value head, 16
// keys, 64 channels); queries in tiles of 32. Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1]
// - 1 of the M in the stream.
//   qkv, d_qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out, d_out [M, H D]
//   lse [M, H]

const KEYS = 16u;
const QUERIES = 32u;
const DIMS = 16u; // head dims staged at a time
const CHANNELS = 64u; // channels of d_k and d_v per workgroup
override CHUNKS: u32 = 4u; // of 16 channels: those of a head, at most 4

// Tiles are dimension-major; 17 and 33 keep lanes in different memory banks. Between two tiles of
// queries theirs hold what was made of them, key-major: probabilities, and the gradients of scores.
var<workgroup> key_tile: array<f32, DIMS * 17u>;
var<workgroup> value_tile: array<f32, DIMS * 17u>;
var<workgroup> query_tile: array<f32, DIMS * 33u>;
var<workgroup> d_out_tile: array<f32, DIMS * 33u>;
var<workgroup> delta_parts: array<f32, QUERIES * 2u>;

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
  let dim = params.head_dim;
  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let token_size = (heads + 2u * kv_heads) * dim;
  let blocks = (dim + CHANNELS - 1u) / CHANNELS;
  let tiles = (params.width + KEYS - 1u) / KEYS;
  let index = group.x + group.y * grid.x;
  let block = index % blocks;
  let first_key = (index / blocks % tiles) * KEYS;
  let kv_head = index / (blocks * tiles) % kv_heads;
  let row = min(index / (blocks * tiles * kv_heads), params.rows - 1u);
  let is_real = index < params.rows * kv_heads * tiles * blocks;
  let first_token = cu_seqlens[row];
  // The row may end before this tile, and the grid's overhang has no row.
  let length = select(0u, cu_seqlens[row + 1u] - first_token, is_real);
  if (first_key >= length) { return; }
  let k_offset = (heads + kv_head) * dim;
  let v_offset = k_offset + kv_heads * dim;

  // Scores: this lane makes 4 keys x 2 queries. Output: one key, channels part * 4 .. + 3 of every
  // 16.
  let score_key = (lane / 16u) * 4u;
  let score_query = lane % 16u;
  let key = lane / 4u;
  let first_channel = block * CHANNELS + (lane % 4u) * 4u;

  var k_sums: array<vec4f, 4>;
  var v_sums: array<vec4f, 4>;
  let group_size = heads / kv_heads;
  for (var head = kv_head * group_size; head < (kv_head + 1u) * group_size; head++) {
    for (var first_query = first_key; first_query < length; first_query += QUERIES) {
      // delta of query lane / 2, halved over two lanes; read after the barriers below.
      var delta_part = 0.0;
      let delta_base = ((first_token + min(first_query + lane / 2u, length - 1u)) * heads + head) * dim;
      for (var d = lane % 2u; d < dim; d += 2u) {
        delta_part = fma(d_out_at(delta_base + d / 4u * 4u)[d % 4u], out[delta_base + d], delta_part);
      }
      delta_parts[lane] = delta_part;

      var qk = array<vec2f, 4>();
      var dv = array<vec2f, 4>();
      for (var first_dim = 0u; first_dim < dim; first_dim += DIMS) {
        workgroupBarrier();
        let d = lane % 4u * 4u;
        let t = lane / 4u;
        let in_token = min(first_dim + d, dim - 1u);
        let key_token = first_token + min(first_key + t, length - 1u);
        let query_token = first_token + min(first_query + t, length - 1u);
        let next_token = first_token + min(first_query + t + 16u, length - 1u);
        let k4 = in_head(qkv_at(key_token * token_size + k_offset + in_token), first_dim + d);
        let v4 = in_head(qkv_at(key_token * token_size + v_offset + in_token), first_dim + d);
        let q4 = in_head(qkv_at(query_token * token_size + head * dim + in_token), first_dim + d);
        let g4 = in_head(d_out_at((query_token * heads + head) * dim + in_token), first_dim + d);
        let next_q4 = in_head(qkv_at(next_token * token_size + head * dim + in_token), first_dim + d);
        let next_g4 = in_head(d_out_at((next_token * heads + head) * dim + in_token), first_dim + d);
        for (var e = 0u; e < 4u; e++) {
          key_tile[(d + e) * 17u + t] = k4[e];
          value_tile[(d + e) * 17u + t] = v4[e];
          query_tile[(d + e) * 33u + t] = q4[e];
          d_out_tile[(d + e) * 33u + t] = g4[e];
          query_tile[(d + e) * 33u + t + 16u] = next_q4[e];
          d_out_tile[(d + e) * 33u + t + 16u] = next_g4[e];
        }
        workgroupBarrier();
        for (var d = 0u; d < DIMS; d++) {
          let q = vec2f(query_tile[d * 33u + score_query], query_tile[d * 33u + score_query + 16u]);
          let g = vec2f(d_out_tile[d * 33u + score_query], d_out_tile[d * 33u + score_query + 16u]);
          for (var a = 0u; a < 4u; a++) {
            qk[a] = fma(vec2f(key_tile[d * 17u + score_key + a]), q, qk[a]);
            dv[a] = fma(vec2f(value_tile[d * 17u + score_key + a]), g, dv[a]);
          }
        }
      }
      workgroupBarrier();
      for (var b = 0u; b < 2u; b++) {
        let q = score_query + b * 16u;
        let column = min(first_query + q, length - 1u);
        let is_query = first_query + q < length && attention_mask[first_token + column] != 0u;
        let query_lse = lse[(first_token + column) * heads + head];
        let delta = delta_parts[q * 2u] + delta_parts[q * 2u + 1u];
        for (var a = 0u; a < 4u; a++) {
          let key_column = first_key + score_key + a;
          let is_key = attention_mask[first_token + min(key_column, length - 1u)] != 0u;
          let attends = is_query && is_key && key_column <= column;
          let prob = select(0.0, exp(select(0.0, qk[a][b] * params.scale - query_lse, attends)), attends);
          query_tile[(score_key + a) * 33u + q] = prob;
          d_out_tile[(score_key + a) * 33u + q] = select(0.0, prob * (dv[a][b] - delta), attends);
        }
      }
      workgroupBarrier();

      for (var q = 0u; q < min(QUERIES, length - first_query); q++) {
        let prob = vec4f(query_tile[key * 33u + q]);
        let d_score = vec4f(d_out_tile[key * 33u + q]);
        let token = first_token + first_query + q;
        let q_base = token * token_size + head * dim + first_channel;
        let g_base = (token * heads + head) * dim + first_channel;
        // Past head_dim these read a neighbour's values; they are never stored.
        for (var c = 0u; c < CHUNKS; c++) {
          k_sums[c] = fma(d_score, qkv_at(q_base + c * 16u), k_sums[c]);
          v_sums[c] = fma(prob, d_out_at(g_base + c * 16u), v_sums[c]);
        }
      }
    }
  }

  if (first_key + key < length) {
    let base = (first_token + first_key + key) * token_size;
    for (var c = 0u; c < 4u; c++) {
      for (var e = 0u; e < 4u; e++) {
        let channel = first_channel + c * 16u + e;
        if (channel < dim) {
          d_qkv[base + k_offset + channel] = params.scale * k_sums[c][e];
          d_qkv[base + v_offset + channel] = v_sums[c][e];
        }
      }
    }
  }
}
