// Writes a layer's product in the matrix units of a GPU, by WGSL's subgroup matrices (experimental:
// gpuweb/gpuweb, proposals/subgroup-matrix.md). Lanes copy a stage of both factors into workgroup
// memory, as halves or as they are; a subgroup multiplies blocks of it; sums stay float32.
import { lines } from './lines.ts'
import type { MatmulOp } from './tile.ts'
import { HEADS } from './tile_heads.ts'

/** The type of the factors, and the blocks that an adapter multiplies: [rows, depth] · [depth,
 * cols], summed in float32. */
export interface MatrixUnit {
  readonly type: 'f16' | 'f32'
  readonly rows: number
  readonly cols: number
  readonly depth: number
}

/** What multiplies a stage and keeps the sums, as WGSL. */
export interface MatrixSteps {
  /** Outside of functions. */
  readonly declared?: string
  /** Before the loop over stages. */
  readonly begin: string
  /** Adds the products of the stage in `left` and `right`. */
  readonly multiply: string
  /** Leaves a part's sums in `sums`. */
  readonly end: (part: number) => string
}

/** Of a workgroup: its lanes, a multiple of every subgroup's size, the rows and columns of its
 * tile, and k of a stage. */
export const MATRIX_TILE = { lanes: 64, rows: 64, cols: 32, stage: 16 }
/** A subgroup makes so many rows of the tile at a time; with subgroups of all lanes, one makes both
 * parts. */
const PART_ROWS = 32
const PARTS = MATRIX_TILE.rows / PART_ROWS

/** What a product does before and after its loop: of a layer's product, or of a decoded token's. */
export interface MatrixFrame {
  /** WGSL of `adds`, `before` and `put`. */
  readonly head: string
  /** WGSL condition, the same for all lanes: nothing of the tile from row a_first on is needed. */
  readonly isIdle: string
}

/** The frame of a layer's product. */
export const plainFrame = (op: Extract<MatmulOp, 'nt' | 'nt_add'>): MatrixFrame => ({
  head: HEADS[op].wgsl,
  isIdle: 'a_first >= params.m',
})

/** The WGSL of out = a · bᵀ (and what the frame adds), k a multiple of 4. */
export function matrixSource(
  { head, isIdle }: MatrixFrame,
  unit: MatrixUnit,
  steps: MatrixSteps = subgroupSteps(unit),
): string {
  const { lanes, rows, cols, stage } = MATRIX_TILE
  return `${head}
var<workgroup> left: array<${unit.type}, ${rows * stage}>; // [rows, stage]
var<workgroup> right: array<${unit.type}, ${cols * stage}>; // [cols, stage]
var<workgroup> sums: array<f32, ${PART_ROWS * cols}>; // of a part, [PART_ROWS, cols]
${steps.declared ?? ''}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
  @builtin(subgroup_size) subgroup_size: u32,
) {
let k4 = params.k / 4u;
let tile = group.x + group.y * grid.x;
let tiles_across = (params.n + ${cols - 1}u) / ${cols}u;
let a_first = tile / tiles_across * ${rows}u;
let b_first = tile % tiles_across * ${cols}u;
if (${isIdle}) { return; }
${steps.begin}
for (var first = 0u; first < k4; first += ${stage / 4}u) {
${fill('a', 'left', rows, 'm', unit)}
${fill('b', 'right', cols, 'n', unit)}
workgroupBarrier();
${steps.multiply}
workgroupBarrier();
}
${lines(PARTS, (part) => `${steps.end(part)}\n${storePart(part)}`)}
}
`
}

/** Lanes store the sums of a part. */
function storePart(part: number): string {
  const { lanes, cols } = MATRIX_TILE
  return `workgroupBarrier();
for (var e = lane; e < ${PART_ROWS * cols}u; e += ${lanes}u) {
let row = a_first + ${part * PART_ROWS}u + e / ${cols}u;
let col = b_first + e % ${cols}u;
if (row < params.m && col < params.n) {
var sum = sums[e];
if (adds()) { sum += before(row, col); }
put(row, col, sum);
}
}
workgroupBarrier();`
}

/** Lanes copy vectors of four along k: past the last row the last one, past the end of k zeros. */
function fill(factor: 'a' | 'b', to: string, rows: number, limit: 'm' | 'n', { type }: MatrixUnit) {
  const { lanes, stage } = MATRIX_TILE
  const quads = stage / 4
  return `for (var e = lane; e < ${rows * quads}u; e += ${lanes}u) {
let row = min(${factor}_first + e / ${quads}u, params.${limit} - 1u);
let quad = first + e % ${quads}u;
let four = select(vec4f(), ${factor}[row * k4 + min(quad, k4 - 1u)], quad < k4);
${lines(4, (i) => `${to}[4u * e + ${i}u] = ${type}(four[${i}]);`)}
}`
}

/** By subgroup matrices, in blocks of the unit. */
function subgroupSteps({ type, rows, cols, depth }: MatrixUnit): MatrixSteps {
  const { lanes, cols: width, stage } = MATRIX_TILE
  const [down, across] = [PART_ROWS / rows, width / cols]
  const blocks = (line: (i: number, j: number) => string) =>
    lines(down, (i) => lines(across, (j) => line(i, j)))
  const ofTeam = (part: number, text: string) => `if (${part}u % teams == team) {\n${text}\n}`
  const matrix = (side: 'left' | 'right', from: number, turned: boolean) => {
    const [x, y] = side === 'left' ? [depth, rows] : [cols, depth]
    const kind = `subgroup_matrix_${side}<${type}, ${x}, ${y}>`
    return `subgroupMatrixLoad<${kind}>(&${side}, ${from}u, ${turned}, ${stage}u)`
  }
  const step = (part: number) => (s: number) => {
    const at = s * depth
    const row = (i: number) => (part * PART_ROWS + i * rows) * stage + at
    return `{
${lines(down, (i) => `let l${i} = ${matrix('left', row(i), false)};`)}
${lines(across, (j) => `let r${j} = ${matrix('right', j * cols * stage + at, true)};`)}
${blocks((i, j) => `c${part}_${i}_${j} = subgroupMatrixMultiplyAccumulate(l${i}, r${j}, c${part}_${i}_${j});`)}
}`
  }
  const result = `subgroup_matrix_result<f32, ${cols}, ${rows}>`
  return {
    begin: `let teams = ${lanes}u / subgroup_size;
let team = lane / subgroup_size;
${lines(PARTS, (part) => blocks((i, j) => `var c${part}_${i}_${j} = ${result}();`))}`,
    multiply: lines(PARTS, (part) => ofTeam(part, lines(stage / depth, step(part)))),
    end: (part) =>
      ofTeam(
        part,
        blocks((i, j) => {
          const at = i * rows * width + j * cols
          return `subgroupMatrixStore(&sums, ${at}u, c${part}_${i}_${j}, false, ${width}u);`
        }),
      ),
  }
}

/** What the WGSL of a matrix product begins with. A subgroup's lanes take the same branches, which
 * the compiler cannot see. */
export const matrixEnables = ({ type }: MatrixUnit): string =>
  `enable subgroups;
${type === 'f16' ? 'enable f16;\n' : ''}enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);
`
