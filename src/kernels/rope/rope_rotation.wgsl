// Turns pairs of channels by a token's position. The includer declares position_ids, inv_freq.

// cos and sin of position * inv_freq[i], right to about 1e-7. WGSL's own may be off by 2^-11, and
// are on some adapters.
fn rotation(token: u32, i: u32) -> vec2f {
  let angle = f32(position_ids[token]) * inv_freq[i];
  // The angle less whole quarter turns, in [-pi/4, pi/4]. pi/2 = 1.5703125 + 4.838268e-4, and the
  // first part has so few bits that its product with up to 2^16 quarter turns is exact.
  let quarters = round(angle * 0.63661977);
  let x = (angle - quarters * 1.5703125) - quarters * 4.8382679e-4;
  let z = x * x;
  // Taylor series; the first term left out is below 3e-9.
  let s = x * (1.0 + z * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z / 362880.0))));
  let c = 1.0 + z * (-0.5 + z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 - z / 3628800.0))));
  let quarter = u32(quarters) % 4u;
  let turned = select(vec2f(c, s), vec2f(-s, c), quarter % 2u == 1u);
  return select(turned, -turned, quarter >= 2u);
}
