// Does as many multiply-adds as the adapter can do: sixteen values per invocation, each x <- x *
// scale + offset, over and over.
//   out [invocations]: the sum of an invocation's sixteen values, so that none is left out

override WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  // A value for each lane, all alike: with operands that are the same for all lanes some GPUs do
  // half as much.
  let scale = vec4f(select(params.scale, 0.0, i >= params.invocations));
  let offset = vec4f(select(params.offset, 0.0, i >= params.invocations));
  if (i >= params.invocations) { return; }
  // Four chains that do not wait for each other.
  var a = vec4f(f32(i % 64u)) + vec4f(0.0, 1.0, 2.0, 3.0);
  var b = a + 4.0;
  var c = a + 8.0;
  var d = a + 12.0;
  for (var step = 0u; step < params.iterations; step++) {
    a = fma(a, scale, offset);
    b = fma(b, scale, offset);
    c = fma(c, scale, offset);
    d = fma(d, scale, offset);
    a = fma(a, scale, offset);
    b = fma(b, scale, offset);
    c = fma(c, scale, offset);
    d = fma(d, scale, offset);
    a = fma(a, scale, offset);
    b = fma(b, scale, offset);
    c = fma(c, scale, offset);
    d = fma(d, scale, offset);
    a = fma(a, scale, offset);
    b = fma(b, scale, offset);
    c = fma(c, scale, offset);
    d = fma(d, scale, offset);
  }
  out[i] = dot(a + b + c + d, vec4f(1.0));
}
