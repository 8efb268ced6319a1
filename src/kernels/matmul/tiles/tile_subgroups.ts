// Writes the end of a product whose k is shared among lanes, by subgroups in place of workgroup
// memory. The lanes that share a result are neighbours. In step i each hands half of its registers
// to the lane whose number differs in bit i and adds the other half of that lane's to its own:
// after as many steps as `slices` has bits, every result has been summed in one place, by one fixed
// tree. Where a subgroup is smaller than that, the last steps go by workgroup memory. The tree is
// the same, so the bits of a result do not depend on the subgroup's size.

/** WebGPU's smallest subgroup: as many neighbours always reach one another. */
const MIN_SUBGROUP = 4

/** WGSL that swaps a register with another lane's, where that may lie in another subgroup. `type`
 * is f32 or vec4f. Counts on lanes being numbered in order through the subgroups of a workgroup. */
export const peerSource = (type: string, lanes: number, slices: number): string =>
  slices <= MIN_SUBGROUP
    ? ''
    : `
var<workgroup> swapped: array<${type}, ${lanes}>;

fn peer(value: ${type}, mask: u32, lane: u32, subgroup_size: u32) -> ${type} {
  if (mask < subgroup_size) { return subgroupShuffleXor(value, mask); }
  workgroupBarrier();
  swapped[lane] = value;
  workgroupBarrier();
  return swapped[lane ^ mask];
}
`

const peer = (value: string, mask: number): string =>
  mask < MIN_SUBGROUP
    ? `subgroupShuffleXor(${value}, ${mask}u)`
    : `peer(${value}, ${mask}u, lane, subgroup_size)`

/** A sum, and the number (a WGSL expression) of the register that it is of. */
export interface SharedSum {
  readonly at: string
  readonly value: string
}

/** Sums each of `registers` over the `slices` neighbouring lanes that hold a part of it; `store`
 * writes out how the sums of a lane are stored, and every sum is one lane's. Both counts are powers
 * of two. */
export function storeShared(
  registers: readonly string[],
  slices: number,
  store: (sums: readonly SharedSum[]) => string,
): string {
  const out: string[] = ['var first = 0u;']
  let held = registers
  let mask = 1
  let spread = 1 // lanes that end with different results
  for (; mask < slices; mask *= 2) {
    const half = held.length / 2
    const name = (j: number) => `s${mask}_${j}`
    if (held.length === 1) {
      out.push(`let ${name(0)} = ${held[0]} + ${peer(held[0], mask)};`)
      held = [name(0)]
      continue
    }
    const upper = `upper_${mask}`
    out.push(`let ${upper} = (slice & ${mask}u) != 0u;`, `if (${upper}) { first += ${half}u; }`)
    const [low, high] = [held.slice(0, half), held.slice(half)]
    held = low.map((l, j) => {
      const given = peer(`select(${high[j]}, ${l}, ${upper})`, mask)
      out.push(`let ${name(j)} = select(${l}, ${high[j]}, ${upper}) + ${given};`)
      return name(j)
    })
    spread *= 2
  }
  const sums = held.map((value, j) => ({ at: `first + ${j}u`, value }))
  return `${out.join('\n')}
if (slice < ${spread}u) {
${store(sums)}
}`
}
