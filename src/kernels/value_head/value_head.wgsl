// What the value head's kernels share. The includer has `params`.

/** Where the state of response token `token` = b·R + t starts in hidden. */
fn hidden_start(token: u32) -> u32 {
  let b = token / params.response_length;
  let t = token - b * params.response_length;
  return (b * params.width + params.first_column + t) * params.hidden_size;
}
