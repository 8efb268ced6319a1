// Declares a kernel for tests of dispatches in parts.
import { defineKernel, foldGrid } from '../base/kernel.ts'

/** Writes each workgroup's place, as a folded and as a two-dimensional grid. */
export const places = defineKernel({
  name: 'places',
  wgsl: `
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let index = group.x + group.y * grid.x;
  if (index >= params.groups) { return; }
  folded[index] += index;
  flat[group.y * grid.x + group.x] += group.x * 3u + group.y * 7u;
}`,
  params: { groups: 'u32', width: 'u32' },
  bindings: { folded: 'read_write u32', flat: 'read_write u32' },
  workgroups: ({ groups, width }) => (width > 0 ? [width, groups / width] : foldGrid(groups)),
})
