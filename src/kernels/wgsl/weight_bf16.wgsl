// Weights of bfloat16, two to a word, the even one in the low half: a bfloat16 is the upper half of a float32, so this is
// exact. The includer declares weight: array<Weight>.
alias Weight = u32;
fn weight_at(index: u32) -> f32 {
  let word = weight[index / 2u];
  return bitcast<f32>(select(word << 16u, word & 0xffff0000u, index % 2u == 1u));
}
