// Holds the params of the three kernels, and where the modules of one product lie: up to three runs
// of columns of y, [first_s, first_s + rows_s), whose rows of b follow one another. A run without
// rows is not there.

fn all_rows() -> u32 { return params.rows_0 + params.rows_1 + params.rows_2; }

fn slots() -> u32 { return 1u + u32(params.rows_1 > 0u) + u32(params.rows_2 > 0u); }

/** Which module row c of b belongs to. */
fn slot_of(c: u32) -> u32 { return u32(c >= params.rows_0) + u32(c >= params.rows_0 + params.rows_1); }

/** First column of a module in y, first row in b, rows. */
fn run_of(slot: u32) -> vec3u {
  if (slot == 0u) { return vec3u(params.first_0, 0u, params.rows_0); }
  if (slot == 1u) { return vec3u(params.first_1, params.rows_0, params.rows_1); }
  return vec3u(params.first_2, params.rows_0 + params.rows_1, params.rows_2);
}

/** The column of y that row c of b writes. */
fn column_of(c: u32, slot: u32) -> u32 {
  let run = run_of(slot);
  return run.x + c - run.y;
}
