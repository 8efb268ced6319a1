// Finds, inside main, which of `columns` places in a row of a head this invocation owns, and which
// half of its channels. Returns where there is none. The includer
// declares params, cu_seqlens, group, grid, lane, columns.

  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let block = group.x + group.y * grid.x;
  let half = block % HALVES;
  let index = block / HALVES * 64u + lane;
  let head = index % heads;
  let row = index / heads / columns;
  if (row >= params.rows) { return; }
  let first_token = cu_seqlens[row];
  let row_end = cu_seqlens[row + 1u];
  let place = index / heads % columns;
  let token_size = heads + 2u * kv_heads;
