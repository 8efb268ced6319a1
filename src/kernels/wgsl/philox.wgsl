// Draws Philox4x32-10: four random u32 from a counter and a key (Salmon et al. 2011, "Parallel
// random numbers: as easy as 1, 2, 3", section 3.3). The same counter and key give the same numbers
// on every adapter, and in sampling/philox.ts. Holds no state: the caller counts.

// High 32 bits of a * b, from 16-bit halves: WGSL has no 64-bit integers.
fn multiply_high(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let low = a_low * b_low;
  let middle = a_high * b_low + (low >> 16u);
  let carry = a_low * b_high + (middle & 0xffffu);
  return a_high * b_high + (middle >> 16u) + (carry >> 16u);
}

fn philox4x32(counter: vec4u, key: vec2u) -> vec4u {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round++) {
    c = vec4u(
      multiply_high(0xCD9E8D57u, c.z) ^ c.y ^ k.x,
      0xCD9E8D57u * c.z,
      multiply_high(0xD2511F53u, c.x) ^ c.w ^ k.y,
      0xD2511F53u * c.x,
    );
    k += vec2u(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

// Uniform in [0, 1): the upper 24 bits, each value exact in f32.
fn uniform24(bits: u32) -> f32 { return f32(bits >> 8u) * 0x1p-24f; }
