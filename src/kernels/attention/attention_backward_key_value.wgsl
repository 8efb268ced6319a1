// d_v_j = sum p_ij d_out_i and d_k_j = scale sum p_ij (d_out_i . v_j - delta_i) q_i, over i >= j and the group's query
// heads, in that fixed order. One workgroup per (row, key/value head, 16 keys, 64 channels); queries in tiles of 32.
// Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1 of the M in the stream.
//   qkv, d_qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out, d_out [M, H D]   lse [M, H]
// uses attention_params.wgsl

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> attention_mask: array<u32>;
@group(0) @binding(3) var<storage, read> cu_seqlens: array<u32>;
@group(0) @binding(4) var<storage, read> out: array<f32>;
@group(0) @binding(5) var<storage, read> lse: array<f32>;
@group(0) @binding(6) var<storage, read> d_out: array<f32>;
@group(0) @binding(7) var<storage, read_write> d_qkv: array<f32>;

const KEYS = 16u;
const QUERIES = 32u;
const DIMS = 16u; // head dims staged at a time
const CHANNELS = 64u; // channels of d_k and d_v per workgroup

// Tiles are dimension-major; 17 and 33 keep lanes in different memory banks.
var<workgroup> key_tile: array<f32, DIMS * 17u>;
var<workgroup> value_tile: array<f32, DIMS * 17u>;
var<workgroup> query_tile: array<f32, DIMS * 33u>;
var<workgroup> d_out_tile: array<f32, DIMS * 33u>;
var<workgroup> probs: array<f32, KEYS * 33u>;
var<workgroup> d_scores: array<f32, KEYS * 33u>;
var<workgroup> delta_parts: array<f32, QUERIES * 2u>;

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

  // Scores: this lane makes 4 keys x 2 queries. Output: one key, channels part * 4 .. + 3 of every 16.
  let score_key = (lane / 16u) * 4u;
  let score_query = lane % 16u;
  let key = lane / 4u;
  let first_channel = block * CHANNELS + (lane % 4u) * 4u;
  let chunks = (min(dim - block * CHANNELS, CHANNELS) + 15u) / 16u;

  var k_sums: array<vec4f, 4>;
  var v_sums: array<vec4f, 4>;
  let group_size = heads / kv_heads;
  for (var head = kv_head * group_size; head < (kv_head + 1u) * group_size; head++) {
    for (var first_query = first_key; first_query < length; first_query += QUERIES) {
      // delta of query lane / 2, halved over two lanes; read after the barriers below.
      var delta_part = 0.0;
      let delta_base = ((first_token + min(first_query + lane / 2u, length - 1u)) * heads + head) * dim;
      for (var d = lane % 2u; d < dim; d += 2u) {
        delta_part = fma(d_out[delta_base + d], out[delta_base + d], delta_part);
      }
      delta_parts[lane] = delta_part;

      var qk = array<vec2f, 4>();
      var dv = array<vec2f, 4>();
      for (var first_dim = 0u; first_dim < dim; first_dim += DIMS) {
        workgroupBarrier();
        for (var n = lane; n < (KEYS + QUERIES) * DIMS; n += 64u) {
          let d = n % DIMS;
          let t = n / DIMS;
          let in_dim = first_dim + d < dim;
          let at = min(first_dim + d, dim - 1u);
          if (t < KEYS) {
            let token = first_token + min(first_key + t, length - 1u);
            key_tile[d * 17u + t] = select(0.0, qkv[token * token_size + k_offset + at], in_dim);
            value_tile[d * 17u + t] = select(0.0, qkv[token * token_size + v_offset + at], in_dim);
          } else {
            let token = first_token + min(first_query + t - KEYS, length - 1u);
            query_tile[d * 33u + t - KEYS] = select(0.0, qkv[token * token_size + head * dim + at], in_dim);
            d_out_tile[d * 33u + t - KEYS] = select(0.0, d_out[(token * heads + head) * dim + at], in_dim);
          }
        }
        workgroupBarrier();
        for (var d = 0u; d < min(DIMS, dim - first_dim); d++) {
          let q = vec2f(query_tile[d * 33u + score_query], query_tile[d * 33u + score_query + 16u]);
          let g = vec2f(d_out_tile[d * 33u + score_query], d_out_tile[d * 33u + score_query + 16u]);
          for (var a = 0u; a < 4u; a++) {
            qk[a] = fma(vec2f(key_tile[d * 17u + score_key + a]), q, qk[a]);
            dv[a] = fma(vec2f(value_tile[d * 17u + score_key + a]), g, dv[a]);
          }
        }
      }
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
          probs[(score_key + a) * 33u + q] = prob;
          d_scores[(score_key + a) * 33u + q] = select(0.0, prob * (dv[a][b] - delta), attends);
        }
      }
      workgroupBarrier();

      for (var q = 0u; q < min(QUERIES, length - first_query); q++) {
        let prob = vec4f(probs[key * 33u + q]);
        let d_score = vec4f(d_scores[key * 33u + q]);
        let token = first_token + first_query + q;
        let q_base = token * token_size + head * dim + first_channel;
        let g_base = (token * heads + head) * dim + first_channel;
        for (var c = 0u; c < 4u; c++) {
          if (c < chunks) {
            // Past head_dim these read a neighbour's values; they are never stored.
            let qa = q_base + c * 16u;
            let ga = g_base + c * 16u;
            k_sums[c] = fma(d_score, vec4f(qkv[qa], qkv[qa + 1u], qkv[qa + 2u], qkv[qa + 3u]), k_sums[c]);
            v_sums[c] = fma(prob, vec4f(d_out[ga], d_out[ga + 1u], d_out[ga + 2u], d_out[ga + 3u]), v_sums[c]);
          }
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
