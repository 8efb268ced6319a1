// partials[b] = Σ gradients², over every OPTIMIZER_BLOCKS-th element from the b-th on of all calls
// together, whose elements are numbered from `first` on. One invocation per partial sum, and no
// barrier: neighbours read neighbouring elements.
//   gradients [≥ count]   partials [OPTIMIZER_BLOCKS]

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let lanes = grid.x * WORKGROUP_SIZE;
  var sum = 0.0;
  if (params.accumulate == 1u) { sum = partials[id.x]; }
  for (var i = (id.x + lanes - params.first % lanes) % lanes; i < params.count; i += lanes) {
    sum += gradients[i] * gradients[i];
  }
  partials[id.x] = sum;
}
