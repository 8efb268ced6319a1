// Computes how far the student's policy is from the teacher's, token by token, over one part of the
// vocabulary: part at 0 starts the sums, later ones add. S and T are softmax of their logits times
// inv_temperature, whose log-sum-exps are known. One workgroup per 16 tokens of the list. Tokens
// with is_scored 0 give 0.
//   hidden [states, C]   weight [rows, C]   teacher [states, teacher C]
//   teacher_weight [rows, teacher C]   scored [S, 4]   lse, teacher_lse [B, R]
//   divergence [B · R, 4]: lse of student and of teacher, mean slope, divergence
// uses teacher_terms.wgsl, head_tile.wgsl and head_hidden.wgsl twice, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

fn narrow_quad(row: u32, c: u32) -> vec4f { return hidden_quad(row, c); }
fn wide_quad(row: u32, c: u32) -> vec4f { return weight_quad(params.first_row + row, c); }
fn teacher_narrow_quad(row: u32, c: u32) -> vec4f { return teacher_quad(row, c); }
fn teacher_wide_quad(row: u32, c: u32) -> vec4f {
  return teacher_weight_quad(params.teacher_first_row + row, c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first + lane / 16u * 4u;
  var is_scored = vec4<bool>();
  var log_sum = vec4f();
  var teacher_log_sum = vec4f();
  for (var k = 0u; k < 4u; k++) {
    if (mine + k < params.tokens) {
      let token = scored[mine + k];
      is_scored[k] = token.w != 0u;
      log_sum[k] = lse[token.y];
      teacher_log_sum[k] = teacher_lse[token.y];
    }
  }
  var loss = vec4f();
  var mean = vec4f();
  if (workgroup_max(lane, f32(any(is_scored))) > 0.0) {
    for (var strip = 0u; strip < params.rows; strip += WIDE) {
      let z = tile_dots(lane, first, strip) * params.inv_temperature;
      let z_t = teacher_dots(lane, first, strip) * params.inv_temperature;
      for (var w = 0u; w < 4u; w++) {
        if (strip + lane % 16u + w * 16u < params.rows) {
          let log_s = select(vec4f(), z[w] - log_sum, is_scored);
          let terms = terms_of(log_s, select(vec4f(), z_t[w] - teacher_log_sum, is_scored));
          loss += terms.loss;
          mean += terms.slope;
        }
      }
    }
    workgroupBarrier();
    tiles[lane] = loss;
    tiles[64u + lane] = mean;
    workgroupBarrier();
    if (lane % 16u == 0u) { // one lane, in order: sixteen sums are too few for a tree
      for (var n = 1u; n < 16u; n++) {
        loss += tiles[lane + n];
        mean += tiles[64u + lane + n];
      }
    }
  }
  if (lane % 16u != 0u) { return; }
  for (var k = 0u; k < 4u; k++) {
    if (mine + k >= params.tokens) { break; }
    let slot = scored[mine + k].y;
    var found = vec4f();
    if (is_scored[k]) {
      found = vec4f(log_sum[k], teacher_log_sum[k], mean[k], loss[k]);
      if (params.first_id > 0u) { found += vec4f(0.0, 0.0, divergence[slot].zw); }
    }
    divergence[slot] = found;
  }
}
