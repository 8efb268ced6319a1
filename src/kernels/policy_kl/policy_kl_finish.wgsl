// Computes the divergences of every token from the sums that policy_kl_range left, after its last
// range. One invocation per token.
//   mask [tokens]   running [tokens, 6]   kl_pq, kl_qp [tokens]
// uses policy_kl_divergence.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let token = (group.x + group.y * grid.x) * 64u + lane;
  if (token >= params.tokens) { return; }
  var kl = vec2f();
  if (mask[token] != 0.0) {
    let at = token * 6u;
    let sum = vec2f(running[at + 2u], running[at + 3u]);
    let moment = vec2f(running[at + 4u], running[at + 5u]);
    kl = divergence(sum.xyxy, moment.xyxy).xy;
  }
  kl_pq[token] = kl.x;
  kl_qp[token] = kl.y;
}
