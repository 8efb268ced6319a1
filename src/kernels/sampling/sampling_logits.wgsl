// Reads a logit and records a drawn token, for both samplers. The includer declares params
// (eos_count) and eos_token_ids.

const MOST_NEGATIVE = -0x1.fffffep+127f;
const EXPONENT = 0x7f800000u;

// A u32 that orders as the float does; -0 counts as 0.
fn order_key(x: f32) -> u32 {
  let bits = bitcast<u32>(select(x, 0.0, x == 0.0));
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

// exp((logit - row_max) / temperature): the unnormalised probability.
fn mass_of(logit: f32, row_max: f32, inverse_temperature: f32) -> f32 {
  return exp((logit - row_max) * inverse_temperature);
}

// Whether drawing this token ends its row.
fn is_eos(token: u32) -> bool {
  var found = false;
  for (var i = 0u; i < params.eos_count; i++) { found |= token == eos_token_ids[i]; }
  return found;
}
