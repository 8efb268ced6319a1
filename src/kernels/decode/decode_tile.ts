// Writes decode_tile.wgsl for products of a as it is, and for products that begin with the norm
// before them. `store` is called for rows, and a first column, that there are: so it stores that
// without a test, and compilers read once where `out` lies.
import { unrolled, withPart } from '../wgsl/compose.ts'
import tile from './decode_tile.wgsl?raw'

/** Lines of WGSL; with $ one for each of a lane's rows. */
interface Parts {
  /** a$, where row$ begins in a, in vectors of four. */
  readonly rows: string
  /** x$, four factors of that row. The template's next piece continues the last line. */
  readonly factor: string
  /** What the sums l$ and r$ are turned into. */
  readonly finish: string
}

/** Rows of a lane. GPUs have few tiles of a decoded token, so they take lanes of few rows: more of
 * them, and more waves at once. */
export type LaneRows = 4 | 8

/** Of a tile, which 8 x 8 lanes make. */
export const tileRows = (laneRows: LaneRows): number => 8 * laneRows

function source(parts: Parts, laneRows: LaneRows): string {
  const others = Array.from({ length: laneRows - 1 }, (_, i) => i + 1)
  const stores = others.map((r) => `  store_row(row + ${r}u, col, l${r}, r${r});`).join('\n')
  const whole = Object.entries({ ...parts, stores }).reduce(
    (text, [name, part]) => withPart(text, name, part),
    tile,
  )
  return unrolled(whole, laneRows, 'LANE_ROWS')
}

const plain = { rows: '  let a$ = row$ * k4;', factor: '    let x$ = a[a$ + p]; \\', finish: '' }

/** Before anything is stored, so that what is added is read at once. Past the last row or column it
 * may be anything: nothing is stored. */
const ADD = `  if (params.has_addend == 1u) {
    l$ += before(row + $u, col); r$ += before(row + $u, col + 32u);
  }`

/** a as it is. */
export const plainTile = source(plain, 8)

/** The same, with something added. The includer declares params.has_addend and `fn before(row, col)
 * -> vec4f`, of columns eight apart. */
export const addingTile = (laneRows: LaneRows): string =>
  source({ ...plain, finish: ADD }, laneRows)

/** What is shared by both tiles with a norm: the row's sum of squares is made beside its products,
 * and divides them at the end. */
const normed = {
  factor: '    let raw$ = a[a$ + p]; s$ += dot(raw$, raw$); let x$ = raw$ * norm_weight[p]; \\',
  finish: '  let inv$ = 1.0 / sqrt(s$ / f32(params.k) + params.eps); l$ *= inv$; r$ *= inv$;',
}

/** The product of norm(a) · norm_weight, with nothing added. The includer declares norm_weight and
 * params.eps too. */
export const normedTile = source({ rows: '  let a$ = row$ * k4; var s$ = 0.0;', ...normed }, 4)

/** The same, with something added, of the rows of a that ids name, where params.gathers is 1; the
 * lanes of the first column then keep these rows. The includer declares ids and kept too. */
export const gatheredTile = source(
  {
    rows: `  let gathers = params.gathers == 1u;
  let keeps = gathers && col == 0u;
  let a$ = select(row$, ids[row$], gathers) * k4; var s$ = 0.0;`,
    factor: normed.factor,
    finish: `${normed.finish}
  if (keeps) { for (var p = 0u; p < k4; p++) {
    kept[row$ * k4 + p] = a[a$ + p];
  } }
${ADD}`,
  },
  4,
)
