// Asks for the shortest way through a small maze.
import { numberedTask } from '../task/numbered_task.ts'
import { binomial, subset } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { characters } from '../tokenizers/characters.ts'

/** Rows and columns of a step; in the order in which ways are tried. */
const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  R: [0, 1],
  D: [1, 0],
  L: [0, -1],
  U: [-1, 0],
}
/** The answer where there is no way. */
const NO_WAY = 'X'

/** Where a step leads, as row and column; undefined where a wall or the edge is. */
function stepFrom(
  maze: readonly string[],
  [row, column]: readonly [number, number],
  step: string,
): readonly [number, number] | undefined {
  const [rows, columns] = STEPS[step] ?? [Number.NaN, 0]
  const to = [row + rows, column + columns] as const
  const cell = maze[to[0]]?.[to[1]]
  return cell === undefined || cell === '#' ? undefined : to
}

/** One shortest way from the top left to the bottom right corner, or NO_WAY. */
function shortest(maze: readonly string[]): string {
  const ways = new Map([['0,0', '']])
  const open: (readonly [number, number])[] = [[0, 0]]
  const end = `${maze.length - 1},${maze.length - 1}`
  for (const place of open) {
    const way = ways.get(`${place}`) ?? ''
    if (`${place}` === end) return way
    for (const step of Object.keys(STEPS)) {
      const to = stepFrom(maze, place, step)
      if (!to || ways.has(`${to}`)) continue
      ways.set(`${to}`, way + step)
      open.push(to)
    }
  }
  return NO_WAY
}

/** Whether a way leads over free cells to the bottom right corner. */
function arrives(maze: readonly string[], way: string): boolean {
  let place: readonly [number, number] | undefined = [0, 0]
  for (const step of way) place = place && stepFrom(maze, place, step)
  return `${place}` === `${maze.length - 1},${maze.length - 1}`
}

/** `..#/#../...=` → `RDRD` or `RDDR`, any shortest way from the top left to the bottom right
 * corner; `X` where there is none. */
export const shortest_path: TaskKind = {
  id: 'shortest_path',
  name: 'Shortest path',
  summary:
    'Write a shortest way from the top left to the bottom right corner, around walls (#), as steps R, D, L and U; X where there is none.',
  params: [
    {
      name: 'size',
      label: 'Size',
      help: 'Rows and columns of the maze.',
      default: 4,
      min: 3,
      max: 6,
      step: 1,
      unit: 'cells',
    },
    {
      name: 'walls',
      label: 'Walls',
      help: 'Cells that are walls; at most half of a small maze.',
      default: 4,
      min: 1,
      max: 12,
      step: 1,
      unit: 'cells',
    },
  ],
  short_run: { size: 3, walls: 2 },
  create: ({ size, walls }) => {
    // Both corners are free.
    const places = size * size - 2
    const count = Math.min(walls, Math.floor(places / 2))
    const free = size * size - count
    return numberedTask({
      id: 'shortest_path',
      name: `size=${size} walls=${count}`,
      tokenizer: characters('.#/=RDLUX'),
      max_prompt_length: size * (size + 1),
      // A way visits no cell twice, and few walls make no long way round.
      max_response_length: Math.min(free - 1, 2 * (size - 1) + 2 * count) + 1,
      kinds: [binomial(places, count)],
      pose: (index) => {
        const chosen = new Set(subset(index, places, count).map((place) => place + 1))
        const cells = Array.from({ length: size * size }, (_, i) => (chosen.has(i) ? '#' : '.'))
        const maze = Array.from({ length: size }, (_, row) =>
          cells.slice(row * size, (row + 1) * size).join(''),
        )
        return { prompt: `${maze.join('/')}=`, ground_truth: shortest(maze) }
      },
      pattern: /^([.#]+(?:\/[.#]+)+)=$/,
      example: '..#/#../...=',
      check: ([, text], response) => {
        const maze = text.split('/')
        const best = shortest(maze)
        if (best === NO_WAY || response.length !== best.length) return response === best ? 1 : 0
        return arrives(maze, response) ? 1 : 0
      },
    })
  },
}
