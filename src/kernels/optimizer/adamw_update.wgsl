// AdamW with g = gradient · clip_coef:  p ← p (1 - lr · weight_decay);  m ← β1 m + (1 - β1) g;
// v ← β2 v + (1 - β2) g²;
//   p ← p - lr / c1 · m / (sqrt(v) / sqrt(c2) + eps), with c = 1 - βᵗ of the element's segment and
//   lr times the segment's
//   factor; nothing of a segment with factor 0 changes. A lane takes four elements of one chunk.
//   gradients, weights, m, v [≥ count]   control [CONTROL.length]   chunk_segment [≥ count / 64]
//   corrections [segments, 2]
// A chunk with VECTOR_CHUNK in its chunk_segment has vector_weight_decay. That bit, the indices of
// control (CONTROL) and lrFactor come from optimizer.ts

override WORKGROUP_SIZE: u32 = 256;

// Elements of a lane, and how far they lie apart: what a chunk of 64 has in common is asked for
// once for four of them.
const ELEMENTS = 4u;
const APART = 16u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let place = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  let first = place / APART * APART * ELEMENTS + place % APART;
  if (first >= params.count || control[IS_FINITE] == 0.0) { return; }
  let chunk = chunk_segment[first / 64u];
  let segment = chunk & ~VECTOR_CHUNK;
  let weight_decay = select(params.weight_decay, params.vector_weight_decay, chunk != segment);
  let factor = lrFactor(segment);
  if (factor == 0.0) { return; }
  let lr = params.lr * factor;
  let rate = lr / corrections[2u * segment];
  let root = sqrt(corrections[2u * segment + 1u]);
  let clip_coef = control[CLIP_COEF];

  for (var e = 0u; e < ELEMENTS; e++) {
    let i = first + e * APART;
    if (i >= params.count) { return; }
    let g = gradients[i] * clip_coef;
    let m_new = params.beta1 * m[i] + params.one_minus_beta1 * g;
    let v_new = params.beta2 * v[i] + params.one_minus_beta2 * g * g;
    let decayed = weights[i] * (1.0 - lr * weight_decay);
    weights[i] = decayed - rate * m_new / (sqrt(v_new) / root + params.eps);
    m[i] = m_new;
    v[i] = v_new;
  }
}
