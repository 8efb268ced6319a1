// Gives each of several runs a colour where they are shown together.
import { RUN_COLORS } from './record.ts'

/** Indices of RUN_COLORS for runs of these colours: the first run of a colour keeps it, and a later
 * one takes the first that nobody has. Up to as many runs as there are colours are all
 * different. */
export function distinctColors(colors: readonly number[]): number[] {
  const taken = new Set(colors)
  const given = new Set<number>()
  return colors.map((own) => {
    const free = RUN_COLORS.findIndex((_, color) => !taken.has(color))
    const color = !given.has(own) || free < 0 ? own : free
    taken.add(color)
    given.add(color)
    return color
  })
}
