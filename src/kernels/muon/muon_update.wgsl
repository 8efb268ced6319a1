// weights ← weights (1 - lr · weight_decay) - lr · lr_ratio · direction, with lr times the factor
// of the matrix's segment; nothing changes where that is 0.
//   direction [≥ count]   control [CONTROL.length]   weights [≥ offset + count]
// The indices of control and lrFactor come from muon.ts

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let place = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  let factor = lrFactor(params.segment);
  if (place >= params.count || control[IS_FINITE] == 0.0 || factor == 0.0) { return; }
  let lr = params.lr * factor;
  let i = params.offset + place;
  weights[i] = weights[i] * (1.0 - lr * params.weight_decay) - lr * params.lr_ratio * direction[place];
}
