// Computes the running sums of the policies of 8 tokens' p and q over the rows of one range of the
// vocabulary, 64 rows at a time. A token's p and q are neighbouring components, so each vector
// holds two tokens and .yxwz swaps p and q. The includer has `params` (tokens, vocab_size: rows of
// the range), hidden_p, hidden_q, mask, head_tile.wgsl.

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

fn no_pairs() -> Pairs { return Pairs(vec4f(VERY_NEGATIVE), vec4f(), vec4f()); }

/** The sums over both: two lanes' parts of the vocabulary, or two ranges of it. */
fn joined(one: Pairs, other: Pairs) -> Pairs {
  let top = max(one.top, other.top);
  let a = raised(one, top);
  let b = raised(other, top);
  return Pairs(top, a.sum + b.sum, a.moment + b.moment);
}

/** A lane's sums, for the others: where tile_dots keeps its tiles, so that more workgroups fit
 * beside one another. */
fn keep(lane: u32, s: Pairs) {
  tiles[lane] = s.top;
  tiles[64u + lane] = s.sum;
  tiles[128u + lane] = s.moment;
}

fn kept(lane: u32) -> Pairs { return Pairs(tiles[lane], tiles[64u + lane], tiles[128u + lane]); }

/** Which of the tokens mine and mine + 1 count. */
fn real_tokens(mine: u32) -> vec2<bool> {
  var is_real = vec2<bool>();
  for (var k = 0u; k < 2u; k++) {
    if (mine + k < params.tokens) { is_real[k] = mask[mine + k] != 0.0; }
  }
  return is_real;
}

/** Sums over the range, whole in lanes with lane % 16 = 0. Every lane must call it; a tile without
 * a token that counts does no work. */
fn pairs_over_range(lane: u32, first: u32, is_real: vec2<bool>) -> Pairs {
  let is_active = workgroup_max(lane, f32(any(is_real)));

  var state = no_pairs();
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
    workgroupBarrier();
    keep(lane, state);
    workgroupBarrier();
    if (lane % 16u == 0u) { // one lane, in order: sixteen states are too few for a tree
      for (var n = 1u; n < 16u; n++) { state = joined(state, kept(lane + n)); }
    }
  }
  return state;
}
