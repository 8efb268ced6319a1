// d_weight[v, :] += sum over t with input_ids[t] = v of d_out[t, :], for small vocabularies. A lane
// adds every 8th token of one id and 4 channels; 8 lanes, added in a fixed order, make one result.
// One barrier.
//   input_ids [tokens]   d_out [tokens, C / 4]
//   d_weight [ids, C / 4]: the rows of ids from first_id on

const UNITS = 8u; // of 4 channels, per workgroup
const SLICES = 8u; // of the tokens

var<workgroup> parts: array<vec4f, UNITS * SLICES>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let quads = params.hidden_size / 4u;
  let unit = (group.x + group.y * grid.x) * UNITS + lane % UNITS;
  let row = unit / quads;
  let id = row + params.first_id;
  let quad = unit % quads;

  var sum = vec4f();
  for (var t = lane / UNITS; t < params.tokens; t += SLICES) {
    // Units past the last row may match tokens of later rows; they are never stored.
    if (input_ids[t] == id) { sum += d_out[t * quads + quad]; }
  }
  parts[lane] = sum;
  workgroupBarrier();
  if (lane < UNITS && row < params.ids && id != params.padding_idx) {
    for (var slice = 1u; slice < SLICES; slice++) { sum += parts[slice * UNITS + lane]; }
    d_weight[unit] += sum;
  }
}
