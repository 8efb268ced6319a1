// d_hidden = inv_temperature · token_weight · d_z · weight, with d_z the gradient of a token's
// divergence by the student's logits, which are computed again, as are the teacher's. One workgroup
// per 16 tokens of the list owns their rows of d_hidden and adds to them 64 vocabulary entries at a
// time. The part of the vocabulary at 0 overwrites, later ones add. Tokens with is_scored 0 have no
// row; a tile without gradient does no work.
//   hidden, d_hidden [states, C]   weight [rows, C]   teacher [states, teacher C]
//   teacher_weight [rows, teacher C]   scored [S, 4]   divergence [B · R, 4]   token_weights [B, R]
// uses teacher_terms.wgsl, head_tile.wgsl and head_hidden.wgsl twice, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

fn narrow_quad(row: u32, c: u32) -> vec4f { return hidden_quad(row, c); }
fn wide_quad(row: u32, c: u32) -> vec4f { return weight_quad(params.first_row + row, c); }
fn teacher_narrow_quad(row: u32, c: u32) -> vec4f { return teacher_quad(row, c); }
fn teacher_wide_quad(row: u32, c: u32) -> vec4f {
  return teacher_weight_quad(params.teacher_first_row + row, c);
}

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
  var weights = vec4f();
  var log_sum = vec4f();
  var teacher_log_sum = vec4f();
  var mean = vec4f();
  for (var k = 0u; k < 4u; k++) {
    var start = NO_STATE;
    if (mine + k < params.tokens) {
      let token = scored[mine + k];
      if (token.w != 0u) {
        start = token.x * params.hidden_size;
        let found = divergence[token.y];
        weights[k] = token_weights[token.y];
        log_sum[k] = found.x;
        teacher_log_sum[k] = found.y;
        mean[k] = found.z;
      }
    }
    if (lane % 16u == 0u) { starts[lane / 4u + k] = start; }
  }
  let is_moved = weights != vec4f();
  if (workgroup_max(lane, f32(any(is_moved))) > 0.0) {
    for (var strip = 0u; strip < params.rows; strip += WIDE) {
      let z = tile_dots(lane, first, strip) * params.inv_temperature;
      let z_t = teacher_dots(lane, first, strip) * params.inv_temperature;
      workgroupBarrier(); // d_z [WIDE, NARROW / 4] takes the place of the tiles
      for (var w = 0u; w < 4u; w++) {
        let log_s = select(vec4f(), z[w] - log_sum, is_moved);
        let log_t = select(vec4f(), z_t[w] - teacher_log_sum, is_moved);
        let d = weights * d_logits(log_s, log_t, mean);
        tiles[(lane % 16u + w * 16u) * 4u + lane / 16u] = d * params.inv_temperature;
      }
      workgroupBarrier();
      let is_first = strip + params.first_id == 0u;
      let count = min(WIDE, params.rows - strip);
      for (var c = lane; c < params.hidden_size; c += WORKGROUP_SIZE) {
        var sums = mat4x4f();
        for (var row = 0u; row < count; row++) {
          let x = weight_at((params.first_row + strip + row) * params.hidden_size + c);
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
