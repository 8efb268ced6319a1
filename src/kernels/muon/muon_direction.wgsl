// Computes the momentum of one matrix and the direction of its step, with g = gradient · clip_coef:
//   m ← m + (1 - momentum)(g - m);  v ← β2 v + (1 - β2) g²;
//   direction = g + momentum (m - g) with nesterov, else m
//   gradients, m, v [≥ offset + count]   control [CONTROL.length]   direction [≥ count]
// The indices of control come from muon.ts

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let place = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  if (place >= params.count || control[IS_FINITE] == 0.0) { return; }
  let i = params.offset + place;
  let g = gradients[i] * control[CLIP_COEF];
  let m_new = m[i] + params.one_minus_momentum * (g - m[i]);
  m[i] = m_new;
  v[i] = params.beta2 * v[i] + params.one_minus_beta2 * g * g;
  direction[place] = select(m_new, g + params.momentum * (m_new - g), params.nesterov == 1u);
}
