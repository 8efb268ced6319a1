// The states that the tiled kernels of the vocabulary head read. The includer has `params`, `hidden`, head_tile.wgsl.

/** Row of `hidden` whose state predicts response token `token` = b·R + t. */
fn hidden_row(token: u32) -> u32 {
  let b = token / params.response_length;
  return b * params.width + params.first_column + token % params.response_length;
}

/** Four columns of the state before a response token; anything past the last token or past column C. */
fn hidden_quad(token: u32, c: u32) -> vec4f {
  let last = params.rows * params.response_length - 1u;
  let at = hidden_row(min(token, last)) * params.hidden_size + quad_columns(c);
  return vec4f(hidden[at.x], hidden[at.y], hidden[at.z], hidden[at.w]);
}
