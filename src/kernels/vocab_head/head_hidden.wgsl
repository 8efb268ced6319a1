// Reads the states that the tiled kernels of the vocabulary head read. The includer has `params`,
// `hidden`, `scored`, head_tile.wgsl.

/** Four columns of the state before an entry's token; anything past the last entry or past column
 * C. */
fn hidden_quad(entry: u32, c: u32) -> vec4f {
  let state = scored[min(entry, params.tokens - 1u)].x;
  let at = state * params.hidden_size + quad_columns(c);
  return vec4f(hidden[at.x], hidden[at.y], hidden[at.z], hidden[at.w]);
}
