// Declares what decode_linear and decode_shared read and write. The shapes are in their heads.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  has_addend: u32,
  addend_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read> addend: array<f32>;
@group(0) @binding(4) var<storage, read> ended: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
