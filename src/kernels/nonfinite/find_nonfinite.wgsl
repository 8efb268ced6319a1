// Finds a number that is Inf or NaN: found[slot] = the largest place(first + i) over all such
// values[i] that count. Integers, so the order of the atomics does not matter. Lanes stride over
// the values.
//   values [≥ count]   marks (what says which of them count)   found [≥ slot + 1], cleared before
// looks(), counts(i) and place(index) come from nonfinite.ts

override WORKGROUP_SIZE: u32 = 64;
const EXPONENT = 0x7f800000u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  if (!looks()) { return; }
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP_SIZE) {
    if (!counts(i)) { continue; }
    // Bits, not comparisons: WGSL may assume that no value is Inf or NaN.
    if ((values[i] & EXPONENT) == EXPONENT) {
      atomicMax(&found[params.slot], place(params.first + i));
    }
  }
}
