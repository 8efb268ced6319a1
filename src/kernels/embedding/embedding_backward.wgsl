// d_weight[v, :] += sum over t with input_ids[t] = v of d_out[t, :], in the order of t and without
// atomics on floats. One workgroup per (token, 256 channels): the first token with an id sums all
// tokens that share it; later ones do nothing. Only ids from first_id on that d_weight has a row
// for take part.
//   input_ids [tokens]   d_out [tokens, C]   d_weight [ids, C]

const LANES = 64u;
const CHANNELS = 256u; // four per lane

var<workgroup> lane_found: array<u32, LANES>; // this lane met the id before this token
var<workgroup> is_first: u32;
var<workgroup> matches: array<u32, LANES>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let size = params.hidden_size;
  let blocks = (size + CHANNELS - 1u) / CHANNELS;
  let index = group.x + group.y * grid.x;
  let token = index / blocks;
  let id = input_ids[min(token, params.tokens - 1u)];
  let first_channel = (index % blocks) * CHANNELS + lane;

  // Most tokens of a small vocabulary met their id a few positions ago: the same look-back in all
  // lanes, no barrier. The grid's overhang, padding_idx and ids of other rows count as such tokens.
  let row = id - params.first_id;
  var is_later = token >= params.tokens || id == params.padding_idx || row >= params.ids;
  let nearest = min(token, params.tokens) - min(min(token, params.tokens), LANES);
  for (var t = min(token, params.tokens); t > nearest && !is_later; t--) { is_later = input_ids[t - 1u] == id; }

  if (!is_later) {
    var found = 0u;
    for (var t = lane; t < nearest && found == 0u; t += LANES) { found = u32(input_ids[t] == id); }
    lane_found[lane] = found;
    workgroupBarrier();
    if (lane == 0u) {
      var any = 0u;
      for (var l = 0u; l < LANES; l++) { any |= lane_found[l]; }
      is_first = 1u - any;
    }
    if (workgroupUniformLoad(&is_first) == 1u) { add_all(lane, token, id, row, first_channel); }
  }
}

// Adds the tokens with this id, `token` the first of them, to d_weight. All lanes must call it.
fn add_all(lane: u32, token: u32, id: u32, row: u32, first_channel: u32) {
  var sums = vec4f();
  for (var tile = token; tile < params.tokens; tile += LANES) {
    workgroupBarrier();
    matches[lane] = u32(tile + lane < params.tokens && input_ids[min(tile + lane, params.tokens - 1u)] == id);
    workgroupBarrier();
    for (var n = 0u; n < LANES; n++) {
      if (matches[n] == 1u) {
        for (var c = 0u; c < 4u; c++) {
          // Past hidden_size this reads a neighbour's value; it is never stored.
          sums[c] += d_out[(tile + n) * params.hidden_size + first_channel + c * LANES];
        }
      }
    }
  }
  for (var c = 0u; c < 4u; c++) {
    let channel = first_channel + c * LANES;
    if (channel < params.hidden_size) { d_weight[row * params.hidden_size + channel] += sums[c]; }
  }
}
