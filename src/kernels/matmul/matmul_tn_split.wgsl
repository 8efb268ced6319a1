// out[m, n] = A^T B, or out += A^T B when accumulate is 1, for a long k and a small out. One workgroup per 16 x 32 tile
// of out: 8 lanes hold 8 x 8 results each, and 4 slices of k are summed side by side (slice s takes p = s, s + 4, ...),
// then added up in order of the slices. A line with $ stands for 8 lines, one per row of a lane.
//   out [m, n]   a [k, m]   b [k, n], m and n multiples of 4

struct Params {
  m: u32,
  n: u32,
  k: u32,
  accumulate: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;

const SLICES = 4u;
const ROWS = 16u;
const VECTORS = 8u; // of four columns, across the tile
const LANES = 32u;

var<workgroup> slice_sums: array<vec4f, 512>; // [SLICES, ROWS, VECTORS]

@compute @workgroup_size(LANES)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let tile = group.x + group.y * grid.x;
  let m4 = params.m / 4u;
  let n4 = params.n / 4u;
  let tiles_across = (n4 + VECTORS - 1u) / VECTORS;
  let first_row = tile / tiles_across * ROWS;
  let first_vector = tile % tiles_across * VECTORS;
  let slice = lane / 8u;
  let tile_row = lane / 4u % 2u * 8u;
  let tile_vector = lane % 4u * 2u;

  // The last vectors stand in for those past the edge, whose results are not stored.
  let a0 = min((first_row + tile_row) / 4u, m4 - 1u);
  let a1 = min((first_row + tile_row) / 4u + 1u, m4 - 1u);
  let b0 = min(first_vector + tile_vector, n4 - 1u);
  let b1 = min(first_vector + tile_vector + 1u, n4 - 1u);

  // Named variables, not arrays: an array indexed in a loop may leave the registers.
  var l$ = vec4f(); var r$ = vec4f();
  for (var p = slice; p < params.k; p += SLICES) {
    let low = a[p * m4 + a0];
    let high = a[p * m4 + a1];
    let left = b[p * n4 + b0];
    let right = b[p * n4 + b1];
    l0 += low.x * left; r0 += low.x * right;
    l1 += low.y * left; r1 += low.y * right;
    l2 += low.z * left; r2 += low.z * right;
    l3 += low.w * left; r3 += low.w * right;
    l4 += high.x * left; r4 += high.x * right;
    l5 += high.y * left; r5 += high.y * right;
    l6 += high.z * left; r6 += high.z * right;
    l7 += high.w * left; r7 += high.w * right;
  }

  let at = (slice * ROWS + tile_row) * VECTORS + tile_vector;
  slice_sums[at] = l0; slice_sums[at + 1u] = r0;
  slice_sums[at + 8u] = l1; slice_sums[at + 9u] = r1;
  slice_sums[at + 16u] = l2; slice_sums[at + 17u] = r2;
  slice_sums[at + 24u] = l3; slice_sums[at + 25u] = r3;
  slice_sums[at + 32u] = l4; slice_sums[at + 33u] = r4;
  slice_sums[at + 40u] = l5; slice_sums[at + 41u] = r5;
  slice_sums[at + 48u] = l6; slice_sums[at + 49u] = r6;
  slice_sums[at + 56u] = l7; slice_sums[at + 57u] = r7;
  workgroupBarrier();

  for (var e = lane; e < ROWS * VECTORS; e += LANES) {
    var sum = vec4f();
    for (var s = 0u; s < SLICES; s++) { sum += slice_sums[s * ROWS * VECTORS + e]; }
    let row = first_row + e / VECTORS;
    let vector = first_vector + e % VECTORS;
    if (row < params.m && vector < n4) {
      let i = row * n4 + vector;
      if (params.accumulate == 1u) { out[i] += sum; } else { out[i] = sum; }
    }
  }
}
