// state[m, c] = kept + values, for each entry of one place in the table that covers column c at
// token m; entries in their order. One invocation per element; a place without entries is left as
// it is.
//   table [2 · places + 8 · entries]: for each place its first entry and their number, then the
//   entries
//   values [..]   chosen [masks, mask_tokens]   base_a, base_b, state [tokens, cols]

const ENTRY = 8u;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i >= params.tokens * params.cols) { return; }
  let first = table[2u * params.place];
  let count = table[2u * params.place + 1u];
  if (count == 0u) { return; }
  let c = i % params.cols;
  let token = i / params.cols * params.mask_stride + params.mask_offset;
  var x = state[i];
  for (var e = first; e < first + count; e++) {
    // first column, columns, what is kept, where values begin, their stride by token, mask + 1
    let at = 2u * params.places + ENTRY * e;
    let column = c - table[at];
    if (c < table[at] || column >= table[at + 1u]) { continue; }
    let mask = table[at + 5u];
    if (mask > 0u && chosen[(mask - 1u) * params.mask_tokens + token] == 0u) { continue; }
    let value = values[table[at + 3u] + token * table[at + 4u] + column];
    switch table[at + 2u] {
      case 0u: { x = value; }
      case 1u: { x = base_a[i] + value; }
      case 2u: { x = base_b[i] + value; }
      default: { x = x + value; }
    }
  }
  state[i] = x;
}
