// copied = source, [quads] vectors of four, one per invocation.

struct Params {
  quads: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> copied: array<vec4f>;

override WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  if (i < params.quads) { copied[i] = source[i]; }
}
