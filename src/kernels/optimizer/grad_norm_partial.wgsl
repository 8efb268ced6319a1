// partials[b] = Σ gradients², over every OPTIMIZER_BLOCKS-th element from the b-th on of all calls
// together, whose elements are numbered from `first` on. One invocation per partial sum, and no
// barrier: neighbours read neighbouring elements.
//   gradients [≥ count]   partials [OPTIMIZER_BLOCKS]

struct Params {
  count: u32,
  first: u32,
  accumulate: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<f32>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;

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
