// Holds the body shared by the products of one decode step: sums[i, j] = sum over p of a[i, p] b[j,
// p]. One invocation holds LANE_ROWS rows and 8 columns in registers and reads four p at a time; 8
// invocations lie below one another. Sums go over p in ascending order by matmul_tile.wgsl's
// instructions, so the numbers are those of matmul_nt. LANE_ROWS neighbouring rows that have all
// ended are left out: theirs keep what they held. A line with $ stands for LANE_ROWS lines, one per
// row. The includer declares params (m, k), a, b, ended, `fn width() -> u32` (columns that lanes
// share out), `fn column(col, i) -> u32` (b's row for column i of a lane that starts at col) and
// `fn store(row, col, left, right)`. decode_tile.ts puts in where a's rows begin, what they are
// multiplied by, what is done with the sums, and the stores of the other rows.

fn is_live(row: u32) -> bool {
  var live = false;
  for (var i = 0u; i < LANE_ROWS; i++) { live |= ended[min(row + i, params.m - 1u)] == 0u; }
  return live;
}

fn store_row(row: u32, col: u32, left: vec4f, right: vec4f) {
  if (row >= params.m) { return; }
  store(row, col, left, right);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let tile = group.x + group.y * grid.x;
  let tiles_across = (width() + TILE_WIDTH - 1u) / TILE_WIDTH;
  let row = (tile / tiles_across * 8u + lane / 8u) * LANE_ROWS;
  let col = tile % tiles_across * TILE_WIDTH + lane % 8u;
  if (row >= params.m || col >= width()) { return; }
  if (!is_live(row)) { return; }

  // The last row or column stands in for those past the edge, whose results are not stored.
  let k4 = params.k / 4u;
  let last = params.m - 1u;
  let row$ = min(row + $u, last);
  #rows
  let b0 = column(col, 0u) * k4;
  let b1 = column(col, 1u) * k4;
  let b2 = column(col, 2u) * k4;
  let b3 = column(col, 3u) * k4;
  let b4 = column(col, 4u) * k4;
  let b5 = column(col, 5u) * k4;
  let b6 = column(col, 6u) * k4;
  let b7 = column(col, 7u) * k4;

  // Named variables, not arrays: an array indexed in a loop may leave the registers.
  var l$ = vec4f(); var r$ = vec4f();
  for (var p = 0u; p < k4; p++) {
    let left = transpose(mat4x4f(b[b0 + p], b[b1 + p], b[b2 + p], b[b3 + p]));
    let right = transpose(mat4x4f(b[b4 + p], b[b5 + p], b[b6 + p], b[b7 + p]));
    #factor
      l$ += x$.x * left[0]; l$ += x$.y * left[1]; l$ += x$.z * left[2]; l$ += x$.w * left[3]; \
      r$ += x$.x * right[0]; r$ += x$.y * right[1]; r$ += x$.z * right[2]; r$ += x$.w * right[3];
  }
  #finish

  store(row, col, l0, r0);
  #stores
}
