// A kernel for tests of dispatches in parts.
import { defineKernel, foldGrid } from '../kernel.ts'

/** Writes each workgroup's place, as a folded and as a two-dimensional grid. */
export const places = defineKernel({
  name: 'places',
  wgsl: `
struct Params { groups: u32, width: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> folded: array<u32>;
@group(0) @binding(2) var<storage, read_write> flat: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let index = group.x + group.y * grid.x;
  if (index >= params.groups) { return; }
  folded[index] += index;
  flat[group.y * grid.x + group.x] += group.x * 3u + group.y * 7u;
}`,
  params: { groups: 'u32', width: 'u32' },
  bindings: { folded: 'read_write', flat: 'read_write' },
  workgroups: ({ groups, width }) => (width > 0 ? [width, groups / width] : foldGrid(groups)),
})
