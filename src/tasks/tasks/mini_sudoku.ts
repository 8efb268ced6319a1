// Poses Sudoku problems of four rows, four columns and four boxes.
import { numberedTask } from '../task/numbered_task.ts'
import { binomial, subset } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { characters } from '../tokenizers/characters.ts'

const SIDE = 4
const CELLS = SIDE * SIDE
/** Patterns of empty cells that are tried for each grid. */
const PATTERNS = 60

/** The cells that may not hold the digit of a cell, by cell. */
const SEEN = Array.from({ length: CELLS }, (_, cell) =>
  Array.from({ length: CELLS }, (_, other) => other).filter((other) => {
    const [row, column, box] = places(cell)
    const [otherRow, otherColumn, otherBox] = places(other)
    return other !== cell && (row === otherRow || column === otherColumn || box === otherBox)
  }),
)

function places(cell: number): readonly [row: number, column: number, box: number] {
  const [row, column] = [Math.floor(cell / SIDE), cell % SIDE]
  return [row, column, 2 * Math.floor(row / 2) + Math.floor(column / 2)]
}

/** The solutions of a grid of 16 characters, `.` for empty cells; at most `most` of them. */
function solutions(grid: string, most: number): string[] {
  const empty = grid.indexOf('.')
  if (empty < 0) return [grid]
  const found: string[] = []
  for (const digit of '1234') {
    if (found.length >= most || SEEN[empty].some((other) => grid[other] === digit)) continue
    const filled = grid.slice(0, empty) + digit + grid.slice(empty + 1)
    found.push(...solutions(filled, most - found.length))
  }
  return found
}

const puzzles = new Map<number, readonly string[]>()

/** Puzzles with so many empty cells and one solution whose first row is 1234 when solved. Worked
 * out once. */
function puzzlesOf(empty: number): readonly string[] {
  const known = puzzles.get(empty)
  if (known) return known
  const patterns = binomial(CELLS, empty)
  const count = patterns < BigInt(PATTERNS) ? Number(patterns) : PATTERNS
  const found = solutions(`1234${'.'.repeat(12)}`, Number.POSITIVE_INFINITY).flatMap((grid, g) =>
    Array.from({ length: count }, (_, i) => {
      // Other patterns for other grids.
      const index = (BigInt(i * 12 + g) * patterns) / BigInt(count * 12)
      const cells = new Set(subset(index, CELLS, empty))
      return [...grid].map((digit, cell) => (cells.has(cell) ? '.' : digit)).join('')
    }).filter((puzzle) => solutions(puzzle, 2).length === 1),
  )
  puzzles.set(empty, found)
  return found
}

/** The orders in which the digits can be written: each makes another puzzle of a puzzle. */
const ORDERS = ['1234']
  .flatMap((digits) => permutations(digits))
  .map((order) => (text: string) => text.replaceAll(/[1-4]/g, (digit) => order[Number(digit) - 1]))

function permutations(text: string): string[] {
  if (text.length < 2) return [text]
  return [...text].flatMap((first, i) =>
    permutations(text.slice(0, i) + text.slice(i + 1)).map((rest) => first + rest),
  )
}

const inRows = (grid: string): string => (grid.match(/.{4}/g) ?? []).join('/')

/** `12.4/34.2/2143/43.1=` → `1234/3412/2143/4321`. */
export const mini_sudoku: TaskKind = {
  id: 'mini_sudoku',
  name: 'Mini sudoku',
  summary:
    'Fill the empty cells, so that every row, every column and every box of two by two has 1 to 4.',
  params: [
    {
      name: 'empty',
      label: 'Empty cells',
      help: 'How many of the sixteen cells are empty.',
      default: 5,
      min: 1,
      max: 9,
      step: 1,
      unit: 'cells',
    },
  ],
  short_run: { empty: 3 },
  create: ({ empty }) => {
    const own = puzzlesOf(empty)
    return numberedTask({
      id: 'mini_sudoku',
      name: `empty=${empty}`,
      tokenizer: characters('1234./='),
      max_prompt_length: CELLS + 4,
      max_response_length: CELLS + 4,
      partial_score: 'the share of the empty cells that are right, if the others are kept',
      kinds: [BigInt(own.length * ORDERS.length)],
      pose: (index) => {
        const puzzle = own[Number(index / BigInt(ORDERS.length))]
        const order = ORDERS[Number(index % BigInt(ORDERS.length))]
        const ground_truth = inRows(order(solutions(puzzle, 1)[0]))
        return { prompt: `${inRows(order(puzzle))}=`, ground_truth }
      },
      pattern: /^([1-4.]{4})\/([1-4.]{4})\/([1-4.]{4})\/([1-4.]{4})=$/,
      example: '12.4/34.2/2143/43.1=',
      check: ([, ...rows], response) => {
        const puzzle = rows.join('')
        if (!/^[1-4]{4}(\/[1-4]{4}){3}$/.test(response)) return 0
        const filled = response.replaceAll('/', '')
        const [solved] = solutions(puzzle, 1)
        const gaps = [...puzzle].filter((digit) => digit === '.').length
        if ([...puzzle].some((digit, cell) => digit !== '.' && digit !== filled[cell])) return 0
        const right = [...puzzle].filter(
          (digit, cell) => digit === '.' && filled[cell] === solved[cell],
        ).length
        return right / gaps
      },
    })
  },
}
