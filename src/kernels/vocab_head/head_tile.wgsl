// Computes dot products of 16 narrow rows with 64 wide rows over all C columns, 16 columns staged
// at a time. Lane l holds narrow rows 4·(l / 16) + 0…3 (the components) against wide rows l % 16 +
// 0, 16, 32, 48 (the columns). Every row goes through the same operations in the same order,
// wherever it lies in the tile: a token's logits are the same bits in any batch.
// The includer has 64 lanes, `params`, `weight` [V, C] with weight_f32.wgsl or _bf16, and says what
// is narrow and what is wide:
//   fn narrow_quad(row: u32, c: u32) -> vec4f      fn wide_quad(row: u32, c: u32) -> vec4f

const NARROW: u32 = 16;
const WIDE: u32 = 64;
/** Quads (vec4) of columns staged at a time. */
const QUADS: u32 = 4;

/** The wide tile [QUADS, WIDE], then the narrow one [QUADS, NARROW]. Between calls of tile_dots
 * includers may use it. */
var<workgroup> tiles: array<vec4f, 320>;
const NARROW_TILE: u32 = 256;

/** Holds barriers: every lane calls it. Its first barrier also ends all earlier reads of workgroup
 * memory; after it lanes may still read the tiles. */
fn tile_dots(own: u32, first_narrow: u32, first_wide: u32) -> mat4x4f {
  // A compiler sees that it stays inside the tiles, and tests no index.
  let lane = own % 64u;
  let narrow_lane = lane / 16u * 4u;
  let wide_lane = lane % 16u;
  var dots = mat4x4f();
  for (var c = 0u; c < params.hidden_size; c += QUADS * 4u) {
    workgroupBarrier();
    let row = lane / QUADS;
    let quad = lane % QUADS;
    tiles[NARROW_TILE + quad * NARROW + row] = narrow_quad(first_narrow + row, c + quad * 4u);
    for (var part = 0u; part < WIDE; part += NARROW) {
      tiles[quad * WIDE + part + row] = wide_quad(first_wide + part + row, c + quad * 4u);
    }
    workgroupBarrier();
    for (var q = 0u; q < QUADS; q++) {
      let at = NARROW_TILE + q * NARROW + narrow_lane;
      let rows = mat4x4f(tiles[at], tiles[at + 1u], tiles[at + 2u], tiles[at + 3u]);
      let wide = q * WIDE + wide_lane;
      dots[0] += tiles[wide] * rows;
      dots[1] += tiles[wide + 16u] * rows;
      dots[2] += tiles[wide + 32u] * rows;
      dots[3] += tiles[wide + 48u] * rows;
    }
  }
  return dots;
}

/** Four columns of one token's unembedding; anything past the last entry, zero past column C: that
 * ends the dots. */
fn weight_quad(v: u32, c: u32) -> vec4f {
  let quad = weight_quad_at(min(v, params.vocab_size - 1u) * params.hidden_size, c, params.hidden_size);
  let column = vec4u(c) + vec4u(0u, 1u, 2u, 3u);
  return select(vec4f(), quad, column < vec4u(params.hidden_size));
}

fn quad_columns(c: u32) -> vec4u {
  return min(vec4u(c) + vec4u(0u, 1u, 2u, 3u), vec4u(params.hidden_size - 1u));
}
