// Sets the symbols of a formula as they are written by hand: what follows an underscore stands
// low.
import { t } from '../../kit/translator.ts'

/** A letter, and what stands below it: π_old, s_t, G_t+1. Names of settings are no symbols. */
const LOW = /(?<![\p{L}_])(\p{L})_(t\+1|\p{L}+)/u

/** A text with its subscripts. */
export function Symbols({ text }: { readonly text: string }) {
  // Before, each: the letter; after it what is low, and the rest.
  const pieces = t(text).split(LOW)
  if (pieces.length === 1) return pieces[0]
  return pieces.map((piece, i) => {
    // A formula changes as a whole.
    const key = `${i} ${piece}`
    return i % 3 === 2 ? (
      <sub key={key} translate="no">
        {piece}
      </sub>
    ) : (
      <span key={key} translate="no">
        {piece}
      </span>
    )
  })
}
