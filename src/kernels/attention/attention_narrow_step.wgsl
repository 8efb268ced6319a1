// Takes one new token per row, at `column`, for short rows and small heads: norms and turns its q
// and k heads, keeps its k and v in the cache, and attends: out = sum over columns j <= column of
// softmax_j(scale q . k_j) v_j. One invocation per (row, head); the first head of a group writes
// the cache, all of them have the token's own k in registers. The numbers are those of
// qk_norm_rope_forward and attention_narrow_forward. Lines with $ and ~ as there.
//   qkv [B, (H + 2K) D] as projected   norm_weight [2, D] (q, k)   position_ids [B]
//   inv_freq [D/2]
//   cache [B / n * P + B * response_columns, 2 K D]: prompts, then responses (four elements to a
//   vec2u where they are halves)
//   attention_mask [B, width]   out [B, H D]
// uses attention_narrow_products.wgsl, cache_token.wgsl, rope_head.wgsl, rope_rotation.wgsl,
// cache_f32.wgsl or
// cache_f16.wgsl

const MASKED = -1e30; // far below every score, and finite

// The head at `base` normed and turned, by qk_norm_rope_forward's instructions.
fn turned(row: u32, base: u32, weight_base: u32) -> array<vec4f, VECTORS> {
  const half_dim = 2u * VECTORS;
  let has_norm = params.has_qk_norm == 1u;
  var inv = 1.0;
  if (has_norm) { inv = head_inv_rms(base); }
  var head: array<vec4f, VECTORS>;
  for (var i = 0u; i < half_dim; i++) {
    let j = i + half_dim;
    var x = vec2f(qkv[base + i], qkv[base + j]) * inv;
    if (has_norm) { x *= vec2f(norm_weight[weight_base + i], norm_weight[weight_base + j]); }
    let r = rotation(row, i);
    head[i / 4u][i % 4u] = x.x * r.x - x.y * r.y;
    head[j / 4u][j % 4u] = x.y * r.x + x.x * r.y;
  }
  return head;
}

// Four channels of the token's own value, which starts at `base`.
fn own_value(base: u32, vector: u32) -> vec4f {
  let at = base + 4u * vector;
  return vec4f(qkv[at], qkv[at + 1u], qkv[at + 2u], qkv[at + 3u]);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let row = index / heads;
  let head = index % heads;
  if (row >= params.rows) { return; }
  let at = row * heads + head;
  let mask_start = row * params.width;
  let column = min(params.column, params.width - 1u);
  // A row that has ended attends nothing, and nobody will attend to it.
  if (attention_mask[mask_start + column] == 0u) {
    out[at][$] = vec4f();
    return;
  }

  let dim = params.head_dim;
  let group_size = heads / kv_heads;
  let kv_head = head / group_size;
  let base = row * (heads + 2u * kv_heads) * dim;
  let q = turned(row, base + head * dim, 0u);
  let own_k = turned(row, base + (heads + kv_head) * dim, dim);
  let own_k$ = own_k[$u];
  let v = base + (heads + kv_heads + kv_head) * dim;
  let token_size = 2u * kv_heads;
  // The last token of a response is beyond the cache: nobody attends to it.
  if (head % group_size == 0u && column < params.prompt_length + params.response_columns) {
    let own = cache_token(row, column) * token_size;
    cache[own + kv_head][$] = packed_vector(own_k$);
    cache[own + kv_head + kv_heads][$] = packed_vector(own_value(v, $u));
  }
  // Where key 0 lies, and where it would lie were the prompt's keys beside the response's.
  let prompt = cache_token(row, 0u) * token_size + kv_head;
  let response = (cache_token(row, params.prompt_length) - params.prompt_length) * token_size + kv_head;
  // Keys are counted from the row's first token that is none of its padding.
  var first = 0u;
  while (first < column && attention_mask[mask_start + first] == 0u) { first++; }
  // The token's own key comes first, with the one before it where both lie in one trip's keys.
  let scale = params.scale * LOG2_E;
  let q$ = scale * q[$];
  var own_dot = vec2f();
  own_dot = plus(own_dot, q$, own_k$);
  let own_score = own_dot.x + own_dot.y;
  var sum$ = vec4f();
  var score = MASKED;
  var key = column - (column - first) % KEYS;
  if (key < column && attention_mask[mask_start + key] != 0u) {
    let at = key * token_size + select(response, prompt, key < params.prompt_length);
    let k$ = unpacked_vector(cache[at][$]);
    var dot = vec2f();
    dot = plus(dot, q$, k$);
    score = dot.x + dot.y;
    sum$ = unpacked_vector(cache[at + kv_heads][$]);
  }
  let row_max = max(score, own_score);
  var start = -0.5 * vec2f(row_max);
  let weight = exp2(score - row_max);
  let own_weight = exp2(own_score - row_max);
  var row_sum = weight + own_weight;
  sum$ = fma(vec4f(own_weight), own_value(v, $u), weight * sum$);
  var k = key * token_size;
  // Tested at its end, so that compilers read where the cache lies once.
  if (key > first) {
  loop {
    key -= KEYS;
    k -= KEYS * token_size;
    let is_key~ = attention_mask[mask_start + key + ~u] != 0u;
    let at~ = k + ~u * token_size + select(response, prompt, key + ~u < params.prompt_length);
    let k~_$ = unpacked_vector(cache[at~][$]);
    var dot~ = start;
    dot~ = plus(dot~, q$, k~_$);
    let score~ = select(MASKED, dot~.x + dot~.y, is_key~);
    var growth = 0.0;
    growth = max(growth, score~);
    start -= 0.5 * growth;
    let shrink = exp2(-abs(growth));
    let weight~ = exp2(score~ - growth);
    row_sum *= shrink;
    row_sum += weight~;
    sum$ *= shrink;
    let v~_$ = unpacked_vector(cache[at~ + kv_heads][$]);
    sum$ = fma(vec4f(weight~), v~_$, sum$);
    continuing { break if key == first; }
  }
  }
  let inverse = 1.0 / row_sum;
  out[at][$] = sum$ * inverse;
}
