// Keeps the tokens whose entropy is at least the quantile of all that count: a token below it has
// pg_weight 0, and entropy_weight = loss_weight · tokens / kept tokens, or 0.
// One workgroup; each lane owns a contiguous run of tokens. Order statistics are found bit by bit.
//   entropy, token_weights, loss_weights, pg_weights, entropy_weights [tokens]

override WORKGROUP_SIZE: u32 = 256;

// Of tokens in all, of those kept, and of those below what is tried for each bit of two ranks.
var<workgroup> counted: array<atomic<u32>, 2>;
var<workgroup> below: array<atomic<u32>, 64>;

/** A whole number in the order of f32. */
fn key_of(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn value_of(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, (key & 0x80000000u) != 0u));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let run = (params.tokens + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
  let first = min(lane * run, params.tokens);
  let end = min(first + run, params.tokens);
  var own = 0u;
  for (var i = first; i < end; i++) { own += select(0u, 1u, token_weights[i] != 0.0); }
  atomicAdd(&counted[0], own);
  workgroupBarrier();
  let count = atomicLoad(&counted[0]);

  // torch.quantile: linear between the two nearest ranks.
  let rank = params.quantile * f32(max(count, 1u) - 1u);
  let ranks = vec2u(u32(floor(rank)), u32(ceil(rank)));
  var found = vec2u();
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    let tried = found | vec2u(bit);
    var less = vec2u();
    for (var i = first; i < end; i++) {
      if (token_weights[i] != 0.0) { less += select(vec2u(), vec2u(1u), vec2u(key_of(entropy[i])) < tried); }
    }
    let at = 2u * countTrailingZeros(bit);
    atomicAdd(&below[at], less.x);
    atomicAdd(&below[at + 1u], less.y);
    workgroupBarrier();
    if (atomicLoad(&below[at]) <= ranks.x) { found.x = tried.x; }
    if (atomicLoad(&below[at + 1u]) <= ranks.y) { found.y = tried.y; }
  }
  let low = value_of(found.x);
  let high = value_of(found.y);
  let part = rank - floor(rank);
  let threshold = select(high - (high - low) * (1.0 - part), low + part * (high - low), part < 0.5);

  var kept = 0u;
  for (var i = first; i < end; i++) {
    kept += select(0u, 1u, token_weights[i] != 0.0 && entropy[i] >= threshold);
  }
  atomicAdd(&counted[1], kept);
  workgroupBarrier();
  let share = f32(count) / f32(max(atomicLoad(&counted[1]), 1u));
  for (var i = first; i < end; i++) {
    let is_kept = token_weights[i] != 0.0 && entropy[i] >= threshold;
    if (!is_kept) { pg_weights[i] = 0.0; }
    entropy_weights[i] = select(0.0, loss_weights[i] * share, is_kept);
  }
}
