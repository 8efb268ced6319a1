// Declares what decode_linear reads and writes where it begins with a norm: norm_weight [k], and a
// the states before the norm. Where gathers is 1, row r of a is ids[r], and kept [m, k] gets these
// rows; else ids and kept are anything.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  has_addend: u32,
  addend_stride: u32,
  gathers: u32,
  eps: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> norm_weight: array<vec4f>;
@group(0) @binding(3) var<storage, read> b: array<vec4f>;
@group(0) @binding(4) var<storage, read> addend: array<f32>;
@group(0) @binding(5) var<storage, read> ended: array<u32>;
@group(0) @binding(6) var<storage, read> ids: array<u32>;
@group(0) @binding(7) var<storage, read_write> kept: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;
