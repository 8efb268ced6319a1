// Finds, inside main, where the workgroup's 16 queries and 64 channels lie, and which of them are
// this lane's. Returns where the row has no such queries. The includer declares params, cu_seqlens,
// QUERIES, CHANNELS, group, grid, lane.

  let dim = params.head_dim;
  let heads = params.num_attention_heads;
  let token_size = (heads + 2u * params.num_key_value_heads) * dim;
  let blocks = (dim + CHANNELS - 1u) / CHANNELS;
  let tiles = (params.width + QUERIES - 1u) / QUERIES;
  let index = group.x + group.y * grid.x;
  let block = index % blocks;
  let first_query = (index / blocks % tiles) * QUERIES;
  let head = index / (blocks * tiles) % heads;
  let row = min(index / (blocks * tiles * heads), params.rows - 1u);
  let is_real = index < params.rows * heads * tiles * blocks;
  let kv_head = head / (heads / params.num_key_value_heads);
  let first_token = cu_seqlens[row];
  // The row may end before this tile, and the grid's overhang has no row.
  let length = select(0u, cu_seqlens[row + 1u] - first_token, is_real);
  if (first_query >= length) { return; }
  let k_offset = (heads + kv_head) * dim;
  let v_offset = k_offset + params.num_key_value_heads * dim;

  // Scores: this lane makes 4 queries x 2 keys. Output: one query, channels part * 4 .. + 3 of
  // every 16.
  let score_query = (lane / 16u) * 4u;
  let score_key = lane % 16u;
  let query = lane / 4u;
  let part = lane % 4u;
  let first_channel = block * CHANNELS + part * 4u;
