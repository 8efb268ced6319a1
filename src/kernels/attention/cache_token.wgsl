// Finds where the cache holds a row's column: the n rows of one prompt share its columns, then each
// row has its own. The includer declares params (rows, n, prompt_length, response_columns).
fn cache_token(row: u32, column: u32) -> u32 {
  let prompt = row / params.n * params.prompt_length + column;
  let first_response = params.rows / params.n * params.prompt_length;
  let response = first_response + row * params.response_columns + column - params.prompt_length;
  return select(response, prompt, column < params.prompt_length);
}
