// Inside main, which of `columns` places in a row of a head this invocation owns. Returns where there is none. The includer
// declares params, cu_seqlens, group, grid, lane, columns.

  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let head = index % heads;
  let row = index / heads / columns;
  if (row >= params.rows) { return; }
  let first_token = cu_seqlens[row];
  let row_end = cu_seqlens[row + 1u];
  let place = index / heads % columns;
  let token_size = heads + 2u * kv_heads;
