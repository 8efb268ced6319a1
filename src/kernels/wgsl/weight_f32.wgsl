// Reads weights of float32, as they are. See weight_bf16.wgsl for the other kind; the includer
// declares weight: array<Weight>.
alias Weight = f32;
fn weight_at(index: u32) -> f32 { return weight[index]; }

/** Columns c … c + 3 of the row of `size` columns at `start`; past the last one anything. */
fn weight_quad_at(start: u32, c: u32, size: u32) -> vec4f {
  let at = start + min(vec4u(c) + vec4u(0u, 1u, 2u, 3u), vec4u(size - 1u));
  return vec4f(weight[at.x], weight[at.y], weight[at.z], weight[at.w]);
}
