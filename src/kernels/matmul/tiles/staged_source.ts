// Writes out a matrix product whose factors go by way of workgroup memory, k-major: at one k a
// lane's rows and columns are vectors of four, and the inner loop is their outer product. A stage's
// factors are read from the buffers while the stage before it is multiplied. Each result takes its
// terms in ascending k; slices of k are summed in order at the end.
import { component, lines, pairs, range } from './lines.ts'
import { pipelined } from './staged_pipeline.ts'
import { type Result, storeTile } from './staged_store.ts'
import type { FusedOp, MatmulOp, Tile } from './tile.ts'
import { headOf } from './tile_heads.ts'
import { storeFunction } from './tile_store.ts'

/** One factor of the product. Counts are of vectors of four. */
interface Staged {
  readonly name: 'a' | 'b'
  /** Rows of a or columns of b in the tile, and how many vectors of them a lane holds. */
  readonly size: number
  readonly held: number
  /** Lanes that share them out, and the lane's place among them. */
  readonly lanes: number
  readonly lane: 'x' | 'y'
  readonly limit: 'm' | 'n'
  /** The buffer's vectors hold neighbours along k: blocks of four by four are turned on their
   * way. */
  readonly alongK: boolean
  /** Every vector has two columns of the first half of b and the same two of the second, params.n
   * after it: gate and up. */
  readonly inHalves: boolean
  /** Where its stage begins in the slice's part of the memory. */
  readonly start: number
}

/** The WGSL of a staged product, m (for tn), n and k (where read in vectors) multiples of 4. */
export function stagedSource(op: MatmulOp | FusedOp, tile: Tile): string {
  const { down, across, rows, cols, slices, stage, pipeline } = tile
  const a: Staged = {
    name: 'a',
    lane: 'y',
    lanes: down,
    held: rows / 4,
    size: down * rows,
    limit: 'm',
    alongK: !op.startsWith('tn'),
    inHalves: false,
    start: 0,
  }
  const b: Staged = {
    name: 'b',
    lane: 'x',
    lanes: across,
    held: cols / 4,
    size: across * cols,
    limit: 'n',
    alongK: op.startsWith('nt'),
    inHalves: op === 'nt_swiglu',
    start: (a.size / 4) * stage,
  }
  const head = headOf(op, tile)
  const reach = b.inHalves ? b.size / 2 : b.size
  const sliceSize = ((a.size + b.size) / 4) * stage
  const lanes = down * across
  const sums = slices > 1 ? (a.size * b.size) / 4 : 0
  return `${head.wgsl}
${storeFunction(head, 'vec4f', b.inHalves ? 'params.n / 2u' : 'params.n / 4u')}
var<workgroup> staged: array<vec4f, ${Math.max((pipeline?.buffers ?? 1) * slices * sliceSize, sums)}>;

@compute @workgroup_size(${lanes * slices})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
let m4 = params.m / 4u;
let n4 = params.n / 4u;
let k4 = params.k / 4u;
let tile = group.x + group.y * grid.x;
let tiles_across = (params.n + ${reach - 1}u) / ${reach}u;
let a_first = tile / tiles_across * ${a.size}u;
let b_first = tile % tiles_across * ${reach}u;
if (a_first >= params.m) { return; }
let slice = ${slices > 1 ? `lane / ${lanes}u` : '0u'};
let own = lane % ${lanes}u;
let x = own % ${across}u;
let y = own / ${across}u;
let base = slice * ${sliceSize}u;
${pairs(rows, cols / 4, (r, c) => `var c${r}_${c} = vec4f();`)}
${op === 'tn_bias' ? 'var bias_sum = 0.0;' : ''}
${loop(tile, a, b, op === 'tn_bias')}
${slices > 1 ? sumSlices(tile, op === 'tn_bias') : ''}
${storeTile(head, [a.size, reach], results(tile, b))}
${op === 'tn_bias' ? addBias(a) : ''}
}
`
}

/** Where each result of a lane is stored. */
const results = ({ down, across, rows, cols }: Tile, b: Staged): Result[] =>
  range(rows).flatMap((r) =>
    range(cols / 4).map((c) => ({
      row: `a_first + ${(r >> 2) * down * 4 + (r & 3)}u + y * 4u`,
      col: `b_first / ${b.inHalves ? 2 : 4}u + ${c * across}u + x`,
      value: `c${r}_${c}`,
    })),
  )

function loop(tile: Tile, a: Staged, b: Staged, bias: boolean) {
  const { slices, stage, rows, cols, pipeline } = tile
  const lanes = tile.down * tile.across
  const fills = [a, b].map((factor) => fill(factor, stage, lanes, pipeline?.byRows))
  const all = (part: keyof Fill) => fills.map((fill) => fill[part]).join('\n')
  const read = ({ name, lane, held, lanes, size, start }: Staged, p: string) =>
    lines(held, (i) => {
      const at = `base + ${p} * ${size / 4}u + ${start + i * lanes}u + ${lane}`
      return `let ${name}${i} = staged[${at}];`
    })
  const term = (r: number, c: number) => `c${r}_${c} += a${r >> 2}.${component(r)} * b${c};`
  const step = (p: string) => `{
${read(a, p)}
${read(b, p)}
${pairs(rows, cols / 4, term)}
}`
  if (pipeline)
    return pipelined(pipeline, stage, ((a.size + b.size) / 4) * stage, {
      places: all('places'),
      read: all('read'),
      write: all('write'),
      step,
      bias: (limit) => (bias ? sumBias(a, limit) : ''),
    })
  const steps = (limit: string) => `for (var p = 0u; p < ${limit}; p++) ${step('p')}
${bias ? sumBias(a, limit) : ''}`
  // What lies past the end of k is read, wherever that may be, and not multiplied.
  return `${all('places')}
var k_at = slice * ${stage}u;
${all('read')}
for (var first = 0u; first < params.k; first += ${stage * slices}u) {
${all('write')}
workgroupBarrier();
let left = max(params.k, k_at) - k_at;
k_at += ${stage * slices}u;
if (first + ${stage * slices}u < params.k) {
${all('read')}
}
if (left >= ${stage}u) {
${steps(`${stage}u`)}
} else {
${steps('left')}
}
workgroupBarrier();
}`
}

/** How a slice's lanes copy one stage of a factor: from the buffer into registers, and from there
 * into workgroup memory. */
interface Fill {
  /** Where a lane reads and writes. */
  readonly places: string
  /** Reads the stage from k = k_at on. */
  readonly read: string
  readonly write: string
}

const fill = (factor: Staged, stage: number, lanes: number, byRows = false): Fill =>
  factor.alongK
    ? (byRows ? fillByRows : fillTurned)(factor, stage, lanes)
    : fillStraight(factor, stage, lanes)

const onlySome = (name: string, few: boolean, text: string) =>
  few ? `if (${name}_fills) {\n${text}\n}` : text

/** Lanes take blocks of four rows by four k; eight neighbouring lanes write side by side. */
function fillTurned(factor: Staged, stage: number, lanes: number): Fill {
  const { name, size, limit, inHalves, start } = factor
  const quads = stage / 4
  const blocks = (size / 4) * quads
  const [turns, few] = [Math.ceil(blocks / lanes), blocks < lanes]
  const each = (line: (i: number, j: number) => string) =>
    onlySome(
      name,
      few,
      lines(turns, (i) => lines(4, (j) => line(i, j))),
    )
  const row = (block: string, j: number) =>
    inHalves
      ? `min(${name}_first + ${block} * 2u + ${j % 2}u, params.n - 1u)${j > 1 ? ' + params.n' : ''}`
      : `min(${name}_first + ${block} * 4u + ${j}u, params.${limit} - 1u)`
  const place = (i: number) => `let ${name}_e${i} = own + ${i * lanes}u;
let ${name}_block${i} = ${name}_e${i} % 8u + ${name}_e${i} / ${8 * quads}u * 8u;
let ${name}_quad${i} = ${name}_e${i} / 8u % ${quads}u;
let ${name}_to${i} = ${start}u + ${name}_quad${i} * ${size}u + ${name}_block${i};
${lines(4, (j) => `let ${name}_at${i}_${j} = (${row(`${name}_block${i}`, j)}) * k4 + ${name}_quad${i};`)}`
  const turned = (i: number, q: number) =>
    `vec4f(${range(4)
      .map((j) => `${name}_next${i}_${j}.${component(q)}`)
      .join(', ')})`
  return {
    places: `${few ? `let ${name}_fills = own < ${blocks}u;` : ''}
${lines(turns, place)}
${lines(turns, (i) => lines(4, (j) => `var ${name}_next${i}_${j} = vec4f();`))}`,
    read: each((i, j) => `${name}_next${i}_${j} = ${name}[${name}_at${i}_${j} + k_at / 4u];`),
    write: each((i, q) => `staged[base + ${name}_to${i} + ${(q * size) / 4}u] = ${turned(i, q)};`),
  }
}

/** Lanes take vectors of four k of a row, and write their elements one by one: fewer registers than
 * blocks need, more writes. */
function fillByRows(factor: Staged, stage: number, lanes: number): Fill {
  const { name, size, limit, inHalves, start } = factor
  const quads = stage / 4
  const vectors = size * quads
  const [turns, few] = [Math.ceil(vectors / lanes), vectors < lanes]
  const each = (line: (i: number) => string) => onlySome(name, few, lines(turns, line))
  const row = (r: string) =>
    inHalves
      ? `min(${name}_first + ${r} / 4u * 2u + ${r} % 2u, params.n - 1u) + ${r} / 2u % 2u * params.n`
      : `min(${name}_first + ${r}, params.${limit} - 1u)`
  const place = (i: number) => `let ${name}_row${i} = (own + ${i * lanes}u) / ${quads}u;
let ${name}_quad${i} = (own + ${i * lanes}u) % ${quads}u;
let ${name}_to${i} = ${start}u + ${name}_quad${i} * ${size}u + ${name}_row${i} / 4u;
let ${name}_at${i} = (${row(`${name}_row${i}`)}) * k4 + ${name}_quad${i};
var ${name}_next${i} = vec4f();`
  const element = (i: number, q: number) =>
    `staged[base + ${name}_to${i} + ${(q * size) / 4}u][${name}_row${i} % 4u]`
  return {
    places: `${few ? `let ${name}_fills = own < ${vectors}u;` : ''}
${lines(turns, place)}`,
    read: each((i) => `${name}_next${i} = ${name}[${name}_at${i} + k_at / 4u];`),
    write: each((i) => lines(4, (q) => `${element(i, q)} = ${name}_next${i}.${component(q)};`)),
  }
}

/** Lanes take vectors as they are, neighbouring lanes neighbours. */
function fillStraight(factor: Staged, stage: number, lanes: number): Fill {
  const { name, size, limit, start } = factor
  const vectors = (size / 4) * stage
  const [turns, few] = [Math.ceil(vectors / lanes), vectors < lanes]
  const width = `${limit}4`
  const each = (line: (i: number) => string) => onlySome(name, few, lines(turns, line))
  const place = (i: number) => `let ${name}_e${i} = own + ${i * lanes}u;
let ${name}_col${i} = min(${name}_first / 4u + ${name}_e${i} % ${size / 4}u, ${width} - 1u);
let ${name}_at${i} = ${name}_e${i} / ${size / 4}u * ${width} + ${name}_col${i};
var ${name}_next${i} = vec4f();`
  return {
    places: `${few ? `let ${name}_fills = own < ${vectors}u;` : ''}
${lines(turns, place)}`,
    read: each((i) => `${name}_next${i} = ${name}[k_at * ${width} + ${name}_at${i}];`),
    write: each((i) => `staged[base + ${start}u + ${name}_e${i}] = ${name}_next${i};`),
  }
}

/** Adds the slices' results to those of the first, one slice after another. Only its lanes
 * continue. */
function sumSlices({ down, across, rows, cols, slices }: Tile, hasBias: boolean): string {
  const lanes = down * across
  const results = range(rows).flatMap((r) => range(cols / 4).map((c) => `c${r}_${c}`))
  const round =
    (registers: readonly string[], part = '') =>
    (s: number) => {
      const each = (line: (register: string, at: string) => string) =>
        registers.map((name, i) => line(name, `staged[${i * lanes}u + own]${part}`)).join('\n')
      return `if (slice == ${s + 1}u) {
${each((register, at) => `${at} = ${register};`)}
}
workgroupBarrier();
if (slice == 0u) {
${each((register, at) => `${register} += ${at};`)}
}
workgroupBarrier();`
    }
  return `${lines(slices - 1, round(results))}
${hasBias ? lines(slices - 1, round(['bias_sum'], '.x')) : ''}
if (slice > 0u) { return; }`
}

/** The lanes that sum the bias, a row each: some of the first column of tiles. */
const sumsBias = ({ size }: Staged) => `b_first == 0u && own < ${size}u`

/** Adds a stage to the bias's sums, apart from the multiplications: these would wait for a test at
 * every k. */
const sumBias = (a: Staged, limit: string): string => `if (${sumsBias(a)}) {
for (var p = 0u; p < ${limit}; p++) {
bias_sum += staged[base + p * ${a.size / 4}u + own / 4u][own % 4u];
}
}`

/** What the lanes have summed of the rows that there are. */
const addBias = (a: Staged): string => `if (${sumsBias(a)} && a_first + own < params.m) {
bias[(a_first + own) / 4u][own % 4u] += bias_sum;
}`
