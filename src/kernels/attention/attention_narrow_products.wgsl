// Scores are in units of log 2, which exp2 takes.
const LOG2_E = 1.4426950408889634;

// `sum` and the products of four channels. In two sums, because some GPUs add to two at once.
fn plus(sum: vec2f, a: vec4f, b: vec4f) -> vec2f { return fma(a.zw, b.zw, fma(a.xy, b.xy, sum)); }
