// out = x, of which every word holds two bfloat16: exact. One invocation per pair.
//   x [2 · words], the even one in the low half   out [2 · words]

struct Params {
  words: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2u>; // a float32's bits

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i >= params.words) { return; }
  let two = x[i];
  out[i] = vec2u(two << 16u, two & 0xffff0000u);
}
