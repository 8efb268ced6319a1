// Reads and writes a float32 cache: keys and values as they are. See cache_f16.wgsl for the other
// kind.
alias Cached = f32;
alias CachedVector = vec4f;
const PER_CACHED = 1u;
fn packed(x: vec2f) -> f32 { return x.x; }
fn unpacked(x: f32, element: u32) -> f32 { return x; }
fn packed_vector(x: vec4f) -> vec4f { return x; }
fn unpacked_vector(x: vec4f) -> vec4f { return x; }
