// Reads weights of bfloat16, two to a word, the even one in the low half: a bfloat16 is the upper
// half of a float32, so this is exact. The includer declares weight: array<Weight>.
alias Weight = u32;
fn weight_at(index: u32) -> f32 {
  let word = weight[index / 2u];
  return bitcast<f32>(select(word << 16u, word & 0xffff0000u, index % 2u == 1u));
}

/** Columns c … c + 3 of the row of `size` columns at `start`, all even; past the last one
 * anything. */
fn weight_quad_at(start: u32, c: u32, size: u32) -> vec4f {
  let at = (start + min(vec2u(c, c + 2u), vec2u(size - 2u))) / 2u;
  let two = vec2u(weight[at.x], weight[at.y]);
  return bitcast<vec4f>(vec4u(two.x << 16u, two.x & 0xffff0000u, two.y << 16u, two.y & 0xffff0000u));
}
