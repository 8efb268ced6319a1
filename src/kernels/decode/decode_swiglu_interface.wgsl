// Declares what decode_swiglu reads and writes. The shapes are in its head.

struct Params {
  m: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read> ended: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
