// Does what policy_kl.wgsl does for small vocabularies and states: one invocation per token, plain
// loops, no barriers.
//   kl_pq = Σ p (log p - log q)   kl_qp = Σ q (log q - log p)
//   with p, q = softmax(hidden · weightᵀ); 0 where mask is 0.
//   hidden_p, hidden_q [tokens, C]   weight [V, C]   mask, kl_pq, kl_qp [tokens]
// uses weight_f32.wgsl

const VERY_NEGATIVE = -1e30;

fn largest(z: vec4f) -> f32 { return max(max(z.x, z.y), max(z.z, z.w)); }

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let token = (group.x + group.y * grid.x) * 64u + lane;
  if (token >= params.tokens) { return; }
  if (mask[token] == 0.0) {
    kl_pq[token] = 0.0;
    kl_qp[token] = 0.0;
    return;
  }
  let h = token * params.hidden_size;

  // Components: p, q. z' and m' are those of the other one.
  var top = vec2f(VERY_NEGATIVE); // m = max z so far
  var sum = vec2f(); // Σ exp(z - m)
  var moment = vec2f(); // Σ exp(z - m) ((z - m) - (z' - m'))
  for (var first = 0u; first < params.vocab_size; first += 4u) {
    // Four entries at a time. Those past the end get logits that weigh nothing.
    let v = vec4u(first) + vec4u(0u, 1u, 2u, 3u);
    let is_entry = v < vec4u(params.vocab_size);
    let w = min(v, vec4u(params.vocab_size - 1u)) * params.hidden_size;
    var z_p = vec4f();
    var z_q = vec4f();
    for (var c = 0u; c < params.hidden_size; c++) {
      let column = vec4f(weight_at(w.x + c), weight_at(w.y + c), weight_at(w.z + c), weight_at(w.w + c));
      z_p += hidden_p[h + c] * column;
      z_q += hidden_q[h + c] * column;
    }
    z_p = select(vec4f(VERY_NEGATIVE), z_p, is_entry);
    z_q = select(vec4f(VERY_NEGATIVE), z_q, is_entry);
    let new_top = max(top, vec2f(largest(z_p), largest(z_q)));
    let drop = top - new_top;
    let scale = exp(drop);
    let below_p = z_p - new_top.x;
    let below_q = z_q - new_top.y;
    let e_p = exp(below_p);
    let e_q = exp(below_q);
    let terms = vec2f(dot(e_p, below_p - below_q), dot(e_q, below_q - below_p));
    moment = (moment + (drop - drop.yx) * sum) * scale + terms;
    sum = sum * scale + vec2f(dot(e_p, vec4f(1.0)), dot(e_q, vec4f(1.0)));
    top = new_top;
  }
  // Exactly 0 where p and q are the same bits, also on GPUs where x / x can be 1 ± 1e-7; rounding
  // may leave a negative number.
  let ratio = select(sum / sum.yx, vec2f(1.0), sum == sum.yx);
  let kl = moment / sum - log(ratio);
  kl_pq[token] = select(kl.x, 0.0, kl.x < 0.0);
  kl_qp[token] = select(kl.y, 0.0, kl.y < 0.0);
}
