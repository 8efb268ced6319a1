// sigmoid(x) = 1 / (1 + exp(-x)). The clamp keeps exp finite; below it the result is 2e-35 instead
// of less.

fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-max(x, -80.0)));
}
