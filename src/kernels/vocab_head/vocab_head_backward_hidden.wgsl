// d_hidden = inv_temperature · d_z · weight, with d_z as in head_gradient.wgsl and z computed
// again. One workgroup per 16 tokens of the list owns their rows of d_hidden and adds to them 64
// vocabulary entries at a time; lanes stride over columns. Tokens with is_scored 0 have no row; a
// tile without gradient does no work. `weight` may be one range of the vocabulary: its first row is
// token first_id's.
//   hidden, d_hidden [states, C]   weight [V, C]   scored [S, 4]
//   lse, entropy, d_log_probs, d_entropy [B, R]
// uses head_tile.wgsl, head_hidden.wgsl, head_gradient.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

fn narrow_quad(row: u32, c: u32) -> vec4f { return hidden_quad(row, c); }
fn wide_quad(row: u32, c: u32) -> vec4f { return weight_quad(row, c); }

const NO_STATE = 0xffffffffu;

/** Where the tile's states start in hidden; NO_STATE past the list's end and for tokens with
 * is_scored 0. */
var<workgroup> starts: array<u32, 16>;

/** Writes (first strip of the vocabulary) or adds the gradients of the tile's tokens row … row + 3
 * in column c. */
fn put(row: u32, c: u32, values: vec4f, is_first: bool) {
  for (var k = 0u; k < 4u; k++) {
    let start = starts[row + k];
    if (start != NO_STATE) {
      let at = start + c;
      d_hidden[at] = select(d_hidden[at], 0.0, is_first) + values[k];
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first + lane / 16u * 4u;
  var ids = vec4u();
  var log_sum = vec4f();
  var h = vec4f();
  var d_log_prob = vec4f();
  var d_h = vec4f();
  for (var k = 0u; k < 4u; k++) {
    var start = NO_STATE;
    if (mine + k < params.tokens) {
      let token = scored[mine + k];
      if (token.w != 0u) {
        start = token.x * params.hidden_size;
        ids[k] = token.z - params.first_id;
        log_sum[k] = lse[token.y];
        h[k] = entropy[token.y];
        d_log_prob[k] = d_log_probs[token.y];
        d_h[k] = d_entropy[token.y];
      }
    }
    if (lane % 16u == 0u) { starts[lane / 4u + k] = start; }
  }
  let is_moved = any((d_log_prob != vec4f()) | (d_h != vec4f()));
  if (workgroup_max(lane, f32(is_moved)) > 0.0) {
    for (var strip = 0u; strip < params.vocab_size; strip += WIDE) {
      let z = tile_dots(lane, first, strip) * params.inv_temperature;
      workgroupBarrier(); // d_z [WIDE, NARROW / 4] takes the place of the tiles
      for (var w = 0u; w < 4u; w++) {
        let row = lane % 16u + w * 16u;
        let d = d_logits(z[w], ids == vec4u(strip + row), log_sum, h, d_log_prob, d_h);
        tiles[row * 4u + lane / 16u] = d * params.inv_temperature;
      }
      workgroupBarrier();
      let is_first = strip + params.first_id == 0u;
      let count = min(WIDE, params.vocab_size - strip);
      for (var c = lane; c < params.hidden_size; c += WORKGROUP_SIZE) {
        var sums = mat4x4f();
        for (var row = 0u; row < count; row++) {
          let x = weight_at((strip + row) * params.hidden_size + c);
          sums[0] += tiles[row * 4u] * x;
          sums[1] += tiles[row * 4u + 1u] * x;
          sums[2] += tiles[row * 4u + 2u] * x;
          sums[3] += tiles[row * 4u + 3u] * x;
        }
        put(0u, c, sums[0], is_first);
        put(4u, c, sums[1], is_first);
        put(8u, c, sums[2], is_first);
        put(12u, c, sums[3], is_first);
      }
    }
  }
}
