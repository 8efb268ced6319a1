// Weights of float32, as they are. See weight_bf16.wgsl for the other kind; the includer declares weight: array<Weight>.
alias Weight = f32;
fn weight_at(index: u32) -> f32 { return weight[index]; }
