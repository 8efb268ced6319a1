// Finds the name that a person may have meant.
import { distance } from '../../../tasks/rewards/edit_distance.ts'

/** A slip of the hand changes no more than a third of a name. */
const MOST_CHANGED = 1 / 3

/** The known name that needs the fewest edits to be this one; undefined where none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const letters = [...name.toLowerCase().slice(0, 80)]
  const ranked = known
    .map((own) => ({ own, edits: distance(letters, [...own.toLowerCase()]) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  const longer = Math.max(letters.length, best?.own.length ?? 0)
  // Two letters that changed places are two edits.
  const most = longer < 4 ? 1 : Math.max(2, Math.floor(longer * MOST_CHANGED))
  return best && best.edits <= most ? best.own : undefined
}
