// Computes the running softmax of 16 tokens over the rows of one range of the vocabulary, 64 rows
// at a time, as in FlashAttention. The includer has `params` (vocab_size: rows of the range;
// inv_temperature), hidden, scored, head_tile.wgsl, head_hidden.wgsl.

const VERY_NEGATIVE = -1e30;

fn narrow_quad(row: u32, c: u32) -> vec4f { return hidden_quad(row, c); }
fn wide_quad(row: u32, c: u32) -> vec4f { return weight_quad(row, c); }

/** Running softmax of four tokens, one per component. */
struct Softmax {
  /** m = max z so far. */
  top: vec4f,
  /** Σ exp(z - m). */
  sum: vec4f,
  /** Σ exp(z - m) (z - m): shifted, so that large logits do not cancel in the entropy. */
  moment: vec4f,
  /** Σ exp(z - m)². */
  squares: vec4f,
  /** z[y], or 0 before the label is met. */
  label: vec4f,
}

fn nothing_yet() -> Softmax { return Softmax(vec4f(VERY_NEGATIVE), vec4f(), vec4f(), vec4f(), vec4f()); }

/** The same sums relative to a higher maximum. */
fn raised(s: Softmax, top: vec4f) -> Softmax {
  let drop = s.top - top;
  let scale = exp(drop);
  return Softmax(top, s.sum * scale, (s.moment + drop * s.sum) * scale, s.squares * scale * scale, s.label);
}

/** The sums over both: two lanes' parts of the vocabulary, or two ranges of it. */
fn joined(one: Softmax, other: Softmax) -> Softmax {
  let top = max(one.top, other.top);
  let a = raised(one, top);
  let b = raised(other, top);
  return Softmax(top, a.sum + b.sum, a.moment + b.moment, a.squares + b.squares, a.label + b.label);
}

/** A lane's sums, for the others: where tile_dots keeps its tiles, so that more workgroups fit
 * beside one another. */
fn keep(lane: u32, s: Softmax) {
  tiles[lane] = s.top;
  tiles[64u + lane] = s.sum;
  tiles[128u + lane] = s.moment;
  tiles[192u + lane] = s.squares;
  tiles[256u + lane] = s.label;
}

fn kept(lane: u32) -> Softmax {
  return Softmax(tiles[lane], tiles[64u + lane], tiles[128u + lane], tiles[192u + lane], tiles[256u + lane]);
}

/** The tokens first + 4·(lane / 16) + 0…3 of the list, as one lane sees them. */
struct Tokens {
  /** Ids less `first_id`: rows of the range, or anything beyond it. */
  ids: vec4u,
  is_scored: bool,
}

fn tokens_of(mine: u32, first_id: u32) -> Tokens {
  var tokens = Tokens();
  for (var k = 0u; k < 4u; k++) {
    if (mine + k < params.tokens) {
      let token = scored[mine + k];
      tokens.ids[k] = token.z - first_id;
      tokens.is_scored = tokens.is_scored || token.w != 0u;
    }
  }
  return tokens;
}

/** Sums over the range, whole in lanes with lane % 16 = 0. Every lane must call it; a tile without
 * a scored token does no work. */
fn softmax_over_range(lane: u32, first: u32, tokens: Tokens) -> Softmax {
  let is_active = workgroup_max(lane, f32(tokens.is_scored));
  var state = nothing_yet();
  if (is_active > 0.0) {
    for (var strip = 0u; strip < params.vocab_size; strip += WIDE) {
      let z = tile_dots(lane, first, strip) * params.inv_temperature;
      var top = state.top;
      for (var w = 0u; w < 4u; w++) {
        if (strip + lane % 16u + w * 16u < params.vocab_size) { top = max(top, z[w]); }
      }
      state = raised(state, top);
      for (var w = 0u; w < 4u; w++) {
        let v = strip + lane % 16u + w * 16u;
        if (v < params.vocab_size) {
          let e = exp(z[w] - top);
          state.sum += e;
          state.moment += e * (z[w] - top);
          state.squares += e * e;
          state.label += select(vec4f(), z[w], tokens.ids == vec4u(v));
        }
      }
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
