// out = sum over columns j <= column of softmax_j(scale q . k_j) v_j for one new query per row,
// keys and values from the cache. One workgroup per (row, head): lanes over keys for the scores,
// over four channels each for the sums. Same order of operations as attention_forward, so the same
// numbers.
//   qkv [B, (H + 2K) D]   attention_mask [B, width]   out [B, H D]
//   cache [B / n * P + B * response_columns, 2 K D]: prompts, then responses (two elements to a u32
//   where they are halves)
// uses cache_token.wgsl, cache_f32.wgsl or cache_f16.wgsl

const LANES = 64u;
const KEYS = 32u; // attention_forward's key tile; two of them are scored at a time
const MASKED = -1e30; // far below every score, and finite
override MOST_CHANNELS: u32 = 256u; // of a head

var<workgroup> query_is_token: u32;
var<workgroup> query: array<f32, MOST_CHANNELS>;
var<workgroup> scores: array<f32, LANES>;
var<workgroup> weights: array<f32, LANES>;

fn cached(element: u32) -> f32 { return unpacked(cache[element / PER_CACHED], element); }

/** Four neighbours, of which those past the first `left` are 0: they belong to another head. */
fn quad(element: u32, left: u32) -> vec4f {
  let all = vec4f(cached(element), cached(element + 1u), cached(element + 2u), cached(element + 3u));
  return select(vec4f(), all, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}

/** The query's product with the key at `base`, channel after channel. */
fn dot_with_key(base: u32, dim: u32) -> f32 {
  var sum = 0.0;
  for (var d = 0u; d < dim; d += 4u) {
    let k = quad(base + d, dim - d);
    sum = fma(query[d], k.x, sum);
    sum = fma(query[d + 1u], k.y, sum);
    sum = fma(query[d + 2u], k.z, sum);
    sum = fma(query[d + 3u], k.w, sum);
  }
  return sum;
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
  let index = group.x + group.y * grid.x;
  let head = index % heads;
  // The grid's overhang works on the last row and stores nothing.
  let row = min(index / heads, params.rows - 1u);
  let is_real = index < params.rows * heads;
  let first_token = row * params.width;
  let token_size = 2u * kv_heads * dim;
  let k_offset = head / (heads / kv_heads) * dim;
  let v_offset = k_offset + kv_heads * dim;

  for (var d = lane; d < dim; d += LANES) { query[d] = qkv[row * (heads + 2u * kv_heads) * dim + head * dim + d]; }

  var row_max = MASKED;
  var row_sum = 0.0;
  var sums = vec4f(); // channels first_channel … first_channel + 3
  let first_channel = 4u * lane;
  let column = min(params.column, params.width - 1u);
  // A row that has ended attends nothing.
  if (lane == 0u) { query_is_token = attention_mask[first_token + column]; }
  let is_token = workgroupUniformLoad(&query_is_token) != 0u;
  let key_end = select(0u, column + 1u, is_token);
  for (var first_key = 0u; first_key < key_end; first_key += LANES) {
    workgroupBarrier();
    let key = min(first_key + lane, params.width - 1u);
    var score = MASKED;
    if (first_key + lane < key_end && attention_mask[first_token + key] != 0u) {
      score = dot_with_key(cache_token(row, key) * token_size + k_offset, dim) * params.scale;
    }
    scores[lane] = score;
    workgroupBarrier();

    var maxima = vec2f(row_max);
    for (var k = 0u; k < KEYS; k++) { maxima.x = max(maxima.x, scores[k]); }
    maxima.y = maxima.x;
    for (var k = KEYS; k < LANES; k++) { maxima.y = max(maxima.y, scores[k]); }
    let own_max = select(maxima.y, maxima.x, lane < KEYS);
    weights[lane] = select(exp(score - own_max), 0.0, score == MASKED);
    workgroupBarrier();

    for (var tile = 0u; tile < 2u; tile++) {
      let shrink = exp(row_max - maxima[tile]);
      row_max = maxima[tile];
      row_sum *= shrink;
      sums *= shrink;
      let tile_key = first_key + tile * KEYS;
      // Four keys at a time, because each read waits for memory. Past the last key weights are 0.
      for (var k = 0u; k < KEYS && tile_key + k < key_end; k += 4u) {
        let own = vec4u(0u, 1u, 2u, 3u) + k;
        let at = tile * KEYS + k;
        let weight = vec4f(weights[at], weights[at + 1u], weights[at + 2u], weights[at + 3u]);
        row_sum += weight.x;
        row_sum += weight.y;
        row_sum += weight.z;
        row_sum += weight.w;
        if (first_channel < dim) {
          let keys = min(tile_key + own, vec4u(key_end - 1u));
          let v0 = quad(cache_token(row, keys.x) * token_size + v_offset + first_channel, dim - first_channel);
          let v1 = quad(cache_token(row, keys.y) * token_size + v_offset + first_channel, dim - first_channel);
          let v2 = quad(cache_token(row, keys.z) * token_size + v_offset + first_channel, dim - first_channel);
          let v3 = quad(cache_token(row, keys.w) * token_size + v_offset + first_channel, dim - first_channel);
          sums = fma(vec4f(weight.x), v0, sums);
          sums = fma(vec4f(weight.y), v1, sums);
          sums = fma(vec4f(weight.z), v2, sums);
          sums = fma(vec4f(weight.w), v3, sums);
        }
      }
    }
  }

  for (var c = 0u; c < 4u; c++) {
    let channel = first_channel + c;
    if (is_real && channel < dim) {
      out[(row * heads + head) * dim + channel] = select(0.0, sums[c] / row_sum, is_token);
    }
  }
}
