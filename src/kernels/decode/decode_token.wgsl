// x = embedding[next_ids], then through all blocks: x += attention(norm(x)), x += mlp(norm(x)). One
// workgroup per ROWS rows: their states stay in workgroup memory from the first block to the last.
// Rows that have all ended are left out. Numbers of a row lie in vectors of four.
//   weights: every parameter of the model   cache: of all blocks, each [tokens, 2 K D]
//   next_ids [B]   ended [B]   position_ids [B]   inv_freq [D/2]   attention_mask [B, width]
//   out [B, C]: the states after the last block
// uses cache_token.wgsl, rope_rotation.wgsl, swiglu_sigmoid.wgsl

const ROWS = 4u;
const SLOTS = 64u; // lanes of a row

// Of each row: x (states), y (what a product reads), z (what it makes).
var<workgroup> pool: array<vec4f, 1000>;
var<workgroup> live_rows: array<u32, 1>;

struct Place { row: u32, slot: u32, x: u32, y: u32, z: u32 }

// Four neighbouring columns of y times the weights that begin at `weight`.
fn four_columns(weight: u32, k4: u32, y: u32, columns: u32) -> vec4f {
  var at = weight + 4u * columns * k4;
  var sum = vec4f();
  for (var p = 0u; p < k4; p++) {
    let x = pool[y + p];
    sum += vec4f(
      dot(x, weights[at]), dot(x, weights[at + k4]),
      dot(x, weights[at + 2u * k4]), dot(x, weights[at + 3u * k4]),
    );
    at++;
  }
  return sum;
}

// y = rms_norm(x): every lane sums the squares of its row.
fn norm(place: Place, weight: u32) {
  let c4 = params.hidden_size / 4u;
  if (place.slot >= c4) { return; }
  var sum = 0.0;
  for (var p = 0u; p < c4; p++) { sum += dot(pool[place.x + p], pool[place.x + p]); }
  let inv = 1.0 / sqrt(sum / f32(params.hidden_size) + params.eps);
  for (var p = place.slot; p < c4; p += SLOTS) {
    pool[place.y + p] = pool[place.x + p] * inv * weights[weight + p];
  }
}

// z = y times a matrix of n rows, with a bias where there is one.
fn project(place: Place, weight: u32, n: u32, bias: u32) {
  for (var j = place.slot; j < n / 4u; j += SLOTS) {
    var sum = four_columns(weight, params.hidden_size / 4u, place.y, j);
    if (params.has_bias == 1u) { sum += weights[bias + j]; }
    pool[place.z + j] = sum;
  }
}

// x += what lies at `source` times a matrix [C, 4 k4].
fn add_product(place: Place, weight: u32, k4: u32, source: u32) {
  for (var j = place.slot; j < params.hidden_size / 4u; j += SLOTS) {
    pool[place.x + j] += four_columns(weight, k4, source, j);
  }
}

// z = silu(gate) * up of y.
fn gate_and_up(place: Place, weight: u32) {
  let k4 = params.hidden_size / 4u;
  let up_weight = weight + params.intermediate_size * k4;
  for (var j = place.slot; j < params.intermediate_size / 4u; j += SLOTS) {
    let gate = four_columns(weight, k4, place.y, j);
    let up = four_columns(up_weight, k4, place.y, j);
    let open = vec4f(sigmoid(gate.x), sigmoid(gate.y), sigmoid(gate.z), sigmoid(gate.w));
    pool[place.z + j] = gate * open * up;
  }
}

// The heads of z: queries and keys normed and turned, keys and values into the cache.
fn turn_heads(place: Place, norm_weight: u32, cache_start: u32, keeps: bool) {
  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let d4 = params.head_dim / 4u;
  for (var head = place.slot; head < heads + 2u * kv_heads; head += SLOTS) {
    let base = place.z + head * d4;
    if (head < heads + kv_heads) {
      var inv = 1.0;
      if (params.has_qk_norm == 1u) {
        var sum = 0.0;
        for (var p = 0u; p < d4; p++) { sum += dot(pool[base + p], pool[base + p]); }
        inv = 1.0 / sqrt(sum / f32(params.head_dim) + params.eps);
      }
      for (var p = 0u; p < d4 / 2u; p++) {
        var a = pool[base + p] * inv;
        var b = pool[base + d4 / 2u + p] * inv;
        if (params.has_qk_norm == 1u) {
          let own = norm_weight + select(d4, 0u, head < heads) + p;
          a *= weights[own];
          b *= weights[own + d4 / 2u];
        }
        let r = mat4x2f(
          rotation(place.row, 4u * p), rotation(place.row, 4u * p + 1u),
          rotation(place.row, 4u * p + 2u), rotation(place.row, 4u * p + 3u),
        );
        let turns = transpose(r);
        pool[base + p] = a * turns[0] - b * turns[1];
        pool[base + d4 / 2u + p] = b * turns[0] + a * turns[1];
      }
    }
    if (head >= heads && keeps) {
      let own = cache_start + (cache_token(place.row, params.column) * 2u * kv_heads + head - heads) * d4;
      for (var p = 0u; p < d4; p++) { cache[own + p] = pool[base + p]; }
    }
  }
}

// y = attention of the row's queries over its keys so far. A lane has four channels of a head; its
// own token comes first, from z.
fn attend(place: Place, cache_start: u32) {
  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let d4 = params.head_dim / 4u;
  let mask_start = place.row * params.width;
  let is_live = attention_mask[mask_start + params.column] != 0u;
  for (var j = place.slot; j < heads * d4; j += SLOTS) {
    let head = j / d4;
    let channel = j % d4;
    let kv_head = head / (heads / kv_heads);
    let q = place.z + head * d4;
    let own_k = place.z + (heads + kv_head) * d4;
    var top = 0.0;
    for (var p = 0u; p < d4; p++) { top += dot(pool[q + p], pool[own_k + p]); }
    top *= params.scale;
    var total = 1.0;
    var sum = pool[own_k + kv_heads * d4 + channel];
    for (var key = 0u; key < params.column && is_live; key++) {
      if (attention_mask[mask_start + key] == 0u) { continue; }
      let at = cache_start + (cache_token(place.row, key) * 2u * kv_heads + kv_head) * d4;
      var score = 0.0;
      for (var p = 0u; p < d4; p++) { score += dot(pool[q + p], cache[at + p]); }
      score *= params.scale;
      let new_top = max(top, score);
      let shrink = exp(top - new_top);
      let weight = exp(score - new_top);
      total = total * shrink + weight;
      sum = sum * shrink + weight * cache[at + kv_heads * d4 + channel];
      top = new_top;
    }
    pool[place.y + j] = sum / total;
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * ROWS;
  if (lane == 0u) {
    var live = 0u;
    for (var row = first; row < min(first + ROWS, params.rows); row++) { live += 1u - ended[row]; }
    live_rows[0] = live;
  }
  if (workgroupUniformLoad(&live_rows)[0] == 0u) { return; }

  let c4 = params.hidden_size / 4u;
  let a4 = params.num_attention_heads * params.head_dim / 4u;
  let f4 = params.intermediate_size / 4u;
  let qkv_size = (params.num_attention_heads + 2u * params.num_key_value_heads) * params.head_dim;
  // Neighbouring lanes have the same weights, and rows of their own. The last row stands in for
  // those past the end, which store nothing.
  let is_row = first + lane % ROWS < params.rows;
  let start = lane % ROWS * params.row_vectors;
  let place = Place(
    min(first + lane % ROWS, params.rows - 1u), lane / ROWS, start, start + c4, start + c4 + max(a4, c4));
  // The last token of a response is beyond the cache, and nobody attends to one after the end.
  let keeps = is_row && params.column < params.prompt_length + params.response_columns
    && attention_mask[place.row * params.width + params.column] != 0u;

  for (var p = place.slot; p < c4; p += SLOTS) {
    pool[place.x + p] = weights[params.embedding + next_ids[place.row] * c4 + p];
  }
  workgroupBarrier();
  var block = params.first_block;
  var cache_start = 0u;
  for (var l = 0u; l < params.layers; l++) {
    norm(place, block + params.input_layernorm);
    workgroupBarrier();
    project(place, block + params.qkv_proj, qkv_size, block + params.qkv_bias);
    workgroupBarrier();
    turn_heads(place, block + params.qk_norm, cache_start, keeps);
    workgroupBarrier();
    attend(place, cache_start);
    workgroupBarrier();
    add_product(place, block + params.o_proj, a4, place.y);
    workgroupBarrier();
    norm(place, block + params.post_attention_layernorm);
    workgroupBarrier();
    gate_and_up(place, block + params.gate_up_proj);
    workgroupBarrier();
    add_product(place, block + params.down_proj, f4, place.z);
    workgroupBarrier();
    block += params.block_stride;
    cache_start += params.cache_stride;
  }
  if (is_row) {
    for (var p = place.slot; p < c4; p += SLOTS) { out[place.row * c4 + p] = pool[place.x + p]; }
  }
}
