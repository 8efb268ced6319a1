// p = softmax(hidden_p · weightᵀ), q = softmax(hidden_q · weightᵀ), token by token, and 0 where mask is 0:
//   kl_pq = Σ p (log p - log q)   kl_qp = Σ q (log q - log p)
// One workgroup per 8 tokens walks over the vocabulary 64 entries at a time with running sums. A token's p and q are
// neighbouring components, so each vector holds two tokens and .yxwz swaps p and q.
//   hidden_p, hidden_q [tokens, C]   weight [V, C]   mask, kl_pq, kl_qp [tokens]
// uses policy_kl_interface.wgsl, head_tile.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
const VERY_NEGATIVE = -1e30;

/** Rows 2·token of p and 2·token + 1 of q; anything past the last token or past column C. */
fn narrow_quad(row: u32, c: u32) -> vec4f {
  let at = min(row / 2u, params.tokens - 1u) * params.hidden_size + quad_columns(c);
  if (row % 2u == 0u) { return vec4f(hidden_p[at.x], hidden_p[at.y], hidden_p[at.z], hidden_p[at.w]); }
  return vec4f(hidden_q[at.x], hidden_q[at.y], hidden_q[at.z], hidden_q[at.w]);
}
fn wide_quad(row: u32, c: u32) -> vec4f { return weight_quad(row, c); }

/** Running sums of two tokens' p and q; z' and m' are those of the other policy. */
struct Pairs {
  /** m = max z so far. */
  top: vec4f,
  /** Σ exp(z - m). */
  sum: vec4f,
  /** Σ exp(z - m) ((z - m) - (z' - m')). */
  moment: vec4f,
}

/** The same sums relative to higher maxima. */
fn raised(s: Pairs, top: vec4f) -> Pairs {
  let drop = s.top - top;
  let scale = exp(drop);
  return Pairs(top, s.sum * scale, (s.moment + (drop - drop.yxwz) * s.sum) * scale);
}

var<workgroup> lanes: array<Pairs, 64>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first / 2u + lane / 16u * 2u;
  var is_real = vec2<bool>();
  for (var k = 0u; k < 2u; k++) {
    if (mine + k < params.tokens) { is_real[k] = mask[mine + k] != 0.0; }
  }
  let is_active = workgroup_max(lane, f32(any(is_real)));

  var state = Pairs(vec4f(VERY_NEGATIVE), vec4f(), vec4f());
  if (is_active > 0.0) {
    for (var strip = 0u; strip < params.vocab_size; strip += WIDE) {
      let z = tile_dots(lane, first, strip);
      var top = state.top;
      for (var w = 0u; w < 4u; w++) {
        if (strip + lane % 16u + w * 16u < params.vocab_size) { top = max(top, z[w]); }
      }
      state = raised(state, top);
      // Four terms are summed before they join the running sums: shorter chains, less rounding.
      var sum = vec4f();
      var moment = vec4f();
      for (var w = 0u; w < 4u; w++) {
        if (strip + lane % 16u + w * 16u < params.vocab_size) {
          let below = z[w] - top;
          let e = exp(below);
          sum += e;
          moment += e * (below - below.yxwz);
        }
      }
      state.sum += sum;
      state.moment += moment;
    }
    lanes[lane] = state;
    workgroupBarrier();
    if (lane % 16u == 0u) { // one lane, in order: sixteen states are too few for a tree
      for (var n = 1u; n < 16u; n++) {
        let other = lanes[lane + n];
        let top = max(state.top, other.top);
        let a = raised(state, top);
        let b = raised(other, top);
        state = Pairs(top, a.sum + b.sum, a.moment + b.moment);
      }
    }
  }
  if (lane % 16u == 0u) {
    // Σ p ((z - m) - (z' - m')) - (log Σ exp(z - m) - log Σ exp(z' - m')): exactly 0 where p and q are the same bits, also on
    // GPUs that divide by multiplying with a reciprocal, where x / x can be 1 ± 1e-7.
    let other = state.sum.yxwz;
    let ratio = select(state.sum / other, vec4f(1.0), state.sum == other);
    let kl = state.moment / state.sum - log(ratio);
    for (var k = 0u; k < 2u; k++) {
      if (mine + k >= params.tokens) { break; }
      let both = select(kl.xy, kl.zw, k == 1u);
      // Rounding may leave a negative number.
      kl_pq[mine + k] = select(0.0, both.x, is_real[k] && !(both.x < 0.0));
      kl_qp[mine + k] = select(0.0, both.y, is_real[k] && !(both.y < 0.0));
    }
  }
}
