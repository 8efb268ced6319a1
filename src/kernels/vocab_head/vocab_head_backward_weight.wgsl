// partials[s] = inv_temperature · d_zᵀ · hidden over the s-th part of the list of tokens; the
// caller adds the parts. One workgroup per (16 vocabulary entries, part) owns its rows of partials
// and adds to them 64 tokens at a time, with z computed again; lanes stride over columns. States of
// tokens without gradient are not added. `weight` may be one range of the vocabulary: its first row
// is token first_id's.
//   hidden [states, C]   weight [V, C]   scored [S, 4]
//   lse, entropy, d_log_probs, d_entropy [B, R]   partials [splits, V, C]
// uses head_tile.wgsl, head_hidden.wgsl, head_gradient.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

fn narrow_quad(row: u32, c: u32) -> vec4f { return weight_quad(row, c); }
fn wide_quad(row: u32, c: u32) -> vec4f { return hidden_quad(row, c); }

const NO_STATE = 0xffffffffu;

/** Where the tile's states start in hidden; NO_STATE for a token without gradient, whose state may
 * be anything. */
var<workgroup> starts: array<u32, 64>;

/** Writes (first tile) or adds four vocabulary entries' gradients in column c. */
fn put(split: u32, v: u32, c: u32, values: vec4f, is_first: bool) {
  for (var k = 0u; k < 4u; k++) {
    if (v + k < params.vocab_size) {
      let at = (split * params.vocab_size + v + k) * params.hidden_size + c;
      partials[at] = select(partials[at], 0.0, is_first) + values[k];
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let first = group.x * NARROW;
  let part = (params.tokens + params.splits - 1u) / params.splits;
  let begin = min(group.y * part, params.tokens);
  let end = min(begin + part, params.tokens);
  let entries = vec4u(first + lane / 16u * 4u) + vec4u(0u, 1u, 2u, 3u);

  var is_first = true;
  for (var tile = begin; tile < end; tile += WIDE) {
    let mine = scored[min(tile + lane, end - 1u)];
    var is_moved = false;
    if (tile + lane < end && mine.w != 0u) { is_moved = d_log_probs[mine.y] != 0.0 || d_entropy[mine.y] != 0.0; }
    if (workgroup_max(lane, f32(is_moved)) > 0.0) {
      starts[lane] = select(NO_STATE, mine.x * params.hidden_size, is_moved);
      let z = tile_dots(lane, first, tile) * params.inv_temperature;
      workgroupBarrier(); // d_z [WIDE, NARROW / 4] takes the place of the tiles
      for (var w = 0u; w < 4u; w++) {
        let row = lane % 16u + w * 16u;
        let token = scored[min(tile + row, end - 1u)]; // rows past the end are computed and not added
        let d = d_logits(
          z[w], entries == vec4u(token.z - params.first_id), vec4f(lse[token.y]), vec4f(entropy[token.y]),
          vec4f(d_log_probs[token.y]), vec4f(d_entropy[token.y]),
        );
        tiles[row * 4u + lane / 16u] = d * params.inv_temperature;
      }
      workgroupBarrier();
      let count = min(WIDE, end - tile);
      for (var c = lane; c < params.hidden_size; c += WORKGROUP_SIZE) {
        var sums = mat4x4f();
        for (var row = 0u; row < count; row++) {
          let start = starts[row];
          if (start == NO_STATE) { continue; }
          let x = hidden[start + c];
          sums[0] += tiles[row * 4u] * x;
          sums[1] += tiles[row * 4u + 1u] * x;
          sums[2] += tiles[row * 4u + 2u] * x;
          sums[3] += tiles[row * 4u + 3u] * x;
        }
        put(group.y, first, c, sums[0], is_first);
        put(group.y, first + 4u, c, sums[1], is_first);
        put(group.y, first + 8u, c, sums[2], is_first);
        put(group.y, first + 12u, c, sums[3], is_first);
      }
      is_first = false;
    }
  }
  if (is_first) { // nothing to add: the part is zero
    for (var c = lane; c < params.hidden_size; c += WORKGROUP_SIZE) {
      for (var k = 0u; k < NARROW; k += 4u) { put(group.y, first + k, c, vec4f(), true); }
    }
  }
}
