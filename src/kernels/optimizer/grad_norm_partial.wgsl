// partials[b] = Σ gradients², over every OPTIMIZER_BLOCKS-th element from the b-th on. One invocation per partial sum, and no
// barrier: neighbours read neighbouring elements.
//   gradients [≥ count]   partials [OPTIMIZER_BLOCKS]

struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<f32>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  var sum = 0.0;
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP_SIZE) {
    sum += gradients[i] * gradients[i];
  }
  partials[id.x] = sum;
}
