// out_i = sum over j <= i of softmax_j(scale q_i . k_j) v_j for short rows and small heads. One
// invocation per (row, column or pair of columns, head), keys in a plain loop with a running
// maximum and sum: no barriers, no shared memory. Lines with $, ? and ~ are written several times
// (narrow_source.ts): $ per vector, ? per query, ~ per key of a trip. Keys of a trip share one new
// maximum.
// Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1 of the M in the stream.
//   qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out [M, H D]   lse [M, H]
// uses attention_narrow_products.wgsl, attention_narrow_query.wgsl

const MASKED = -1e30; // far below every score, and finite

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  // Pairs begin where a row's padding ends, so that padding changes no bit: one pair may lie half
  // before the row.
  let columns = select(params.width / 2u + 1u, params.width, QUERIES == 1u);
  #narrow_query
  var first = first_token;
  while (first < row_end && attention_mask[first] == 0u) { first++; }
  let token = first_token + place * QUERIES - (first - first_token) % QUERIES;
  if (token + 1u > row_end) { return; }
  // Outside of its row a query is its neighbour once more.
  let token? = clamp(token + ?u + 1u, first_token + 1u, row_end) - 1u;
  let is_token? = attention_mask[token?] != 0u;
  let kv_head = heads + head / (heads / kv_heads);
  let last_key = tokenLAST * token_size + kv_head;
  let scale = params.scale * LOG2_E;
  let q?_$ = scale * qkv[token? * token_size + head][$];
  var row_sum? = 0.0;
  var sum?_$ = vec4f();
  // Two sums begin with it, less half of the maximum each: a score comes out less the maximum.
  var start? = vec2f();
  // A query's own trip comes first: from then on the maximum is a score, and grows or stays.
  var least = MASKED;
  var key = token - (token - first) % KEYS;
  var k = key * token_size + kv_head;
  if (is_token0 || is_tokenLAST) {
  loop {
    let is_key~ = attention_mask[key + ~u] != 0u;
    // Conditions on ? and ~ are constants. A trip's first key is no later than its queries, its
    // second may be later than the first.
    let at~ = select(min(k + ~u * token_size, last_key), k, ~u == 0u);
    k -= KEYS * token_size;
    let k~_$ = qkv[at~][$];
    var dot?_~ = start?;
    dot?_~ = plus(dot?_~, q?_$, k~_$);
    let sees?_~ = is_key~ & (?u == 1u || ~u == 0u || key + ~u <= token?);
    let score?_~ = select(MASKED, dot?_~.x + dot?_~.y, sees?_~);
    var growth? = least;
    growth? = max(growth?, score?_~);
    start? -= 0.5 * growth?;
    let shrink? = exp2(-abs(growth?));
    let weight?_~ = exp2(score?_~ - growth?);
    row_sum? *= shrink?;
    row_sum? += weight?_~;
    sum?_$ *= shrink?;
    let v~_$ = qkv[at~ + kv_heads][$];
    sum?_$ = fma(vec4f(weight?_~), v~_$, sum?_$);
    least = 0.0;
    continuing {
      key -= KEYS;
      break if key + KEYS == first;
    }
  }
  }

  let inverse? = 1.0 / row_sum?;
  let o? = token? * heads + head;
  let is_own? = token? == token + ?u;
  if (is_own?) { out[o?][$] = select(vec4f(), sum?_$ * inverse?, is_token?); }
  if (is_own?) { lse[o?] = select(0.0, (log2(row_sum?) - 2.0 * start?.x) / LOG2_E, is_token?); }
}
