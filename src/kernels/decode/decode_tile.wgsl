// The body shared by the products of one decode step: sums[i, j] = sum over p of a[i, p] b[j, p]. One invocation holds 8
// rows and 8 columns in registers and reads four p at a time; 64 invocations make 64 rows. Sums go over p in ascending
// order by matmul_tile.wgsl's instructions, so the numbers are those of matmul_nt. Eight neighbouring rows that have all
// ended are left out: theirs keep what they held.
// The includer declares params (m, k), a, b, ended, `fn width() -> u32` (columns that lanes share out), `fn column(col,
// i) -> u32` (b's row for column i of a lane that starts at col) and `fn store(row, col, i, value)`.

const ROWS = 64u; // of a tile

fn is_live(row: u32) -> bool {
  var live = false;
  for (var i = 0u; i < 8u; i++) { live |= ended[min(row + i, params.m - 1u)] == 0u; }
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
  let row = tile / tiles_across * ROWS + lane / 8u * 8u;
  let col = tile % tiles_across * TILE_WIDTH + lane % 8u;
  if (row >= params.m || col >= width()) { return; }
  if (!is_live(row)) { return; }

  // The last row or column stands in for those past the edge, whose results are not stored.
  let k4 = params.k / 4u;
  let last = params.m - 1u;
  let a0 = row * k4;
  let a1 = min(row + 1u, last) * k4;
  let a2 = min(row + 2u, last) * k4;
  let a3 = min(row + 3u, last) * k4;
  let a4 = min(row + 4u, last) * k4;
  let a5 = min(row + 5u, last) * k4;
  let a6 = min(row + 6u, last) * k4;
  let a7 = min(row + 7u, last) * k4;
  let b0 = column(col, 0u) * k4;
  let b1 = column(col, 1u) * k4;
  let b2 = column(col, 2u) * k4;
  let b3 = column(col, 3u) * k4;
  let b4 = column(col, 4u) * k4;
  let b5 = column(col, 5u) * k4;
  let b6 = column(col, 6u) * k4;
  let b7 = column(col, 7u) * k4;

  // Named variables, not arrays: an array indexed in a loop may leave the registers.
  var l0 = vec4f(); var r0 = vec4f();
  var l1 = vec4f(); var r1 = vec4f();
  var l2 = vec4f(); var r2 = vec4f();
  var l3 = vec4f(); var r3 = vec4f();
  var l4 = vec4f(); var r4 = vec4f();
  var l5 = vec4f(); var r5 = vec4f();
  var l6 = vec4f(); var r6 = vec4f();
  var l7 = vec4f(); var r7 = vec4f();
  for (var p = 0u; p < k4; p++) {
    let left = transpose(mat4x4f(b[b0 + p], b[b1 + p], b[b2 + p], b[b3 + p]));
    let right = transpose(mat4x4f(b[b4 + p], b[b5 + p], b[b6 + p], b[b7 + p]));
    let x0 = a[a0 + p];
    l0 += x0.x * left[0]; l0 += x0.y * left[1]; l0 += x0.z * left[2]; l0 += x0.w * left[3];
    r0 += x0.x * right[0]; r0 += x0.y * right[1]; r0 += x0.z * right[2]; r0 += x0.w * right[3];
    let x1 = a[a1 + p];
    l1 += x1.x * left[0]; l1 += x1.y * left[1]; l1 += x1.z * left[2]; l1 += x1.w * left[3];
    r1 += x1.x * right[0]; r1 += x1.y * right[1]; r1 += x1.z * right[2]; r1 += x1.w * right[3];
    let x2 = a[a2 + p];
    l2 += x2.x * left[0]; l2 += x2.y * left[1]; l2 += x2.z * left[2]; l2 += x2.w * left[3];
    r2 += x2.x * right[0]; r2 += x2.y * right[1]; r2 += x2.z * right[2]; r2 += x2.w * right[3];
    let x3 = a[a3 + p];
    l3 += x3.x * left[0]; l3 += x3.y * left[1]; l3 += x3.z * left[2]; l3 += x3.w * left[3];
    r3 += x3.x * right[0]; r3 += x3.y * right[1]; r3 += x3.z * right[2]; r3 += x3.w * right[3];
    let x4 = a[a4 + p];
    l4 += x4.x * left[0]; l4 += x4.y * left[1]; l4 += x4.z * left[2]; l4 += x4.w * left[3];
    r4 += x4.x * right[0]; r4 += x4.y * right[1]; r4 += x4.z * right[2]; r4 += x4.w * right[3];
    let x5 = a[a5 + p];
    l5 += x5.x * left[0]; l5 += x5.y * left[1]; l5 += x5.z * left[2]; l5 += x5.w * left[3];
    r5 += x5.x * right[0]; r5 += x5.y * right[1]; r5 += x5.z * right[2]; r5 += x5.w * right[3];
    let x6 = a[a6 + p];
    l6 += x6.x * left[0]; l6 += x6.y * left[1]; l6 += x6.z * left[2]; l6 += x6.w * left[3];
    r6 += x6.x * right[0]; r6 += x6.y * right[1]; r6 += x6.z * right[2]; r6 += x6.w * right[3];
    let x7 = a[a7 + p];
    l7 += x7.x * left[0]; l7 += x7.y * left[1]; l7 += x7.z * left[2]; l7 += x7.w * left[3];
    r7 += x7.x * right[0]; r7 += x7.y * right[1]; r7 += x7.z * right[2]; r7 += x7.w * right[3];
  }

  store_row(row, col, l0, r0);
  store_row(row + 1u, col, l1, r1);
  store_row(row + 2u, col, l2, r2);
  store_row(row + 3u, col, l3, r3);
  store_row(row + 4u, col, l4, r4);
  store_row(row + 5u, col, l5, r5);
  store_row(row + 6u, col, l6, r6);
  store_row(row + 7u, col, l7, r7);
}
