// Reads and writes a float16 cache: two neighbouring keys or values in one u32, the even one in the
// low half. WGSL packs without shader-f16. What a half cannot hold becomes its largest number.
alias Cached = u32; // two elements
alias CachedVector = vec2u; // four
const PER_CACHED = 2u;
const LARGEST_HALF = 65504.0;
fn packed(x: vec2f) -> u32 { return pack2x16float(clamp(x, vec2f(-LARGEST_HALF), vec2f(LARGEST_HALF))); }
fn unpacked(x: u32, element: u32) -> f32 { return unpack2x16float(x)[element % 2u]; }
fn packed_vector(x: vec4f) -> vec2u { return vec2u(packed(x.xy), packed(x.zw)); }
fn unpacked_vector(x: vec2u) -> vec4f { return vec4f(unpack2x16float(x.x), unpack2x16float(x.y)); }
