// z = hidden · weightᵀ · inv_temperature;  lse = log Σ exp z;  log_prob = z[y] - lse;  entropy = lse - Σ softmax(z) z;
// sum_pi_squared = Σ softmax(z)².
// One workgroup per 16 tokens of the list walks over the vocabulary 64 entries at a time with running sums,
// as softmax in FlashAttention does. Tokens with is_scored 0 give 0; a tile of them does no work.
//   hidden [states, C]   weight [V, C]   scored [S, 4]   log_probs, entropy, lse, sum_pi_squared [B, R]
// uses head_tile.wgsl, head_hidden.wgsl, workgroup_reduce.wgsl

struct Params {
  tokens: u32,
  hidden_size: u32,
  vocab_size: u32,
  inv_temperature: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> scored: array<vec4u>; // state, slot, id, is_scored
@group(0) @binding(4) var<storage, read_write> log_probs: array<f32>;
@group(0) @binding(5) var<storage, read_write> entropy: array<f32>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;
@group(0) @binding(7) var<storage, read_write> sum_pi_squared: array<f32>;

override WORKGROUP_SIZE: u32 = 64;
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

/** The same sums relative to a higher maximum. */
fn raised(s: Softmax, top: vec4f) -> Softmax {
  let drop = s.top - top;
  let scale = exp(drop);
  return Softmax(top, s.sum * scale, (s.moment + drop * s.sum) * scale, s.squares * scale * scale, s.label);
}

var<workgroup> lanes: array<Softmax, 64>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first + lane / 16u * 4u;

  var is_scored = false;
  var ids = vec4u();
  for (var k = 0u; k < 4u; k++) {
    if (mine + k < params.tokens) {
      let token = scored[mine + k];
      ids[k] = token.z;
      is_scored = is_scored || token.w != 0u;
    }
  }
  let is_active = workgroup_max(lane, f32(is_scored));

  var state = Softmax(vec4f(VERY_NEGATIVE), vec4f(), vec4f(), vec4f(), vec4f());
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
          state.label += select(vec4f(), z[w], ids == vec4u(v));
        }
      }
    }
    lanes[lane] = state;
    workgroupBarrier();
    if (lane % 16u == 0u) { // one lane, in order: sixteen states are too few for a tree
      for (var n = 1u; n < 16u; n++) {
        let other = lanes[lane + n];
        let top = max(state.top, other.top);
        let a = raised(state, top);
        let b = raised(other, top);
        state = Softmax(top, a.sum + b.sum, a.moment + b.moment, a.squares + b.squares, a.label + b.label);
      }
    }
  }
  if (lane % 16u == 0u) {
    for (var k = 0u; k < 4u; k++) {
      if (mine + k >= params.tokens) { break; }
      let token = scored[mine + k];
      var log_prob = 0.0;
      var h = 0.0;
      var log_sum_exp = 0.0;
      var square_sum = 0.0;
      if (token.w != 0u) {
        let log_sum = log(state.sum[k]);
        log_prob = state.label[k] - state.top[k] - log_sum;
        h = log_sum - state.moment[k] / state.sum[k];
        log_sum_exp = state.top[k] + log_sum;
        square_sum = state.squares[k] / (state.sum[k] * state.sum[k]);
      }
      log_probs[token.y] = log_prob;
      entropy[token.y] = h;
      lse[token.y] = log_sum_exp;
      sum_pi_squared[token.y] = square_sum;
    }
  }
}
