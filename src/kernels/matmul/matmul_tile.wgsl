// Holds the body shared by the matrix products: out[i, j] = sum over p of A[i, p] B[p, j], where A
// and B are read transposed or not. One invocation holds 8 x 8 results in registers; 64 invocations
// make a 64 x 64 tile. A lane's columns are 8 apart, so that neighbouring lanes read neighbouring
// columns. Every element is summed over p in ascending order, by the same instructions whatever m
// is: a row does not depend on the batch it sits in. A line with $ stands for 8 lines, one per row.
// The includer declares params (m, n, k), a, b, `fn put(row, col, value)`, and `fn before(row, col)
// -> f32`, which is added to a result where `fn adds() -> bool`.

override TRANSPOSE_A: bool = false; // a holds A[i, p] at [p, i]
override TRANSPOSE_B: bool = false; // b holds B[p, j] at [j, p]
const TILE = 64u;

// The last row or column stands in for those past the edge, whose results are not stored.
fn a_start(row: u32) -> u32 {
  return min(row, params.m - 1u) * select(params.k, 1u, TRANSPOSE_A);
}

fn b_start(col: u32) -> u32 {
  return min(col, params.n - 1u) * select(1u, params.k, TRANSPOSE_B);
}

// What is added to a lane's results of a row. Past the last column it is that of the first one,
// which is there.
fn befores(row: u32, first: u32, col: u32) -> vec4f {
  let c = col + vec4u(0u, 8u, 16u, 24u);
  let at = select(vec4u(first), c, c < vec4u(params.n));
  return vec4f(before(row, at.x), before(row, at.y), before(row, at.z), before(row, at.w));
}

fn put_one(row: u32, col: u32, value: f32) {
  if (col < params.n) { put(row, col, value); }
}

fn put_row(row: u32, col: u32, left: vec4f, right: vec4f) {
  put(row, col, left.x);
  put_one(row, col + 8u, left.y);
  put_one(row, col + 16u, left.z);
  put_one(row, col + 24u, left.w);
  put_one(row, col + 32u, right.x);
  put_one(row, col + 40u, right.y);
  put_one(row, col + 48u, right.z);
  put_one(row, col + 56u, right.w);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let tile = group.x + group.y * grid.x;
  let tiles_across = (params.n + TILE - 1u) / TILE;
  let row = tile / tiles_across * TILE + lane / 8u * 8u;
  let col = tile % tiles_across * TILE + lane % 8u;
  if (row >= params.m || col >= params.n) { return; }

  let a0 = a_start(row);
  let a1 = a_start(row + 1u);
  let a2 = a_start(row + 2u);
  let a3 = a_start(row + 3u);
  let a4 = a_start(row + 4u);
  let a5 = a_start(row + 5u);
  let a6 = a_start(row + 6u);
  let a7 = a_start(row + 7u);
  let b0 = b_start(col);
  let b1 = b_start(col + 8u);
  let b2 = b_start(col + 16u);
  let b3 = b_start(col + 24u);
  let b4 = b_start(col + 32u);
  let b5 = b_start(col + 40u);
  let b6 = b_start(col + 48u);
  let b7 = b_start(col + 56u);
  let a_step = select(1u, params.m, TRANSPOSE_A);
  let b_step = select(params.n, 1u, TRANSPOSE_B);

  // Named variables, not arrays: an array indexed in a loop may leave the registers.
  var l$ = vec4f(); var r$ = vec4f();
  var pa = 0u;
  var pb = 0u;
  for (var p = 0u; p < params.k; p++) {
    let left = vec4f(b[b0 + pb], b[b1 + pb], b[b2 + pb], b[b3 + pb]);
    let right = vec4f(b[b4 + pb], b[b5 + pb], b[b6 + pb], b[b7 + pb]);
    let x$ = a[a$ + pa]; l$ += x$ * left; r$ += x$ * right;
    pa += a_step;
    pb += b_step;
  }

  // Read at once, before anything is stored: else every result would wait for memory.
  let own$ = select(row, row + $u, row + $u < params.m);
  if (adds()) {
    l$ += befores(own$, col, col); r$ += befores(own$, col, col + 32u);
  }
  put_row(row, col, l0, r0);
  if (row + 1u < params.m) { put_row(row + 1u, col, l1, r1); }
  if (row + 2u < params.m) { put_row(row + 2u, col, l2, r2); }
  if (row + 3u < params.m) { put_row(row + 3u, col, l3, r3); }
  if (row + 4u < params.m) { put_row(row + 4u, col, l4, r4); }
  if (row + 5u < params.m) { put_row(row + 5u, col, l5, r5); }
  if (row + 6u < params.m) { put_row(row + 6u, col, l6, r6); }
  if (row + 7u < params.m) { put_row(row + 7u, col, l7, r7); }
}
