// Gives the names of lines room beside a still chart, and cuts those that are longer.
import { cutText } from '../../../formats/cut_text.ts'

/** Of a chart's width, what its gutter may take; of a wide one more, whose lines keep room. */
const MOST_GUTTER = 0.25
const MOST_GUTTER_WIDE = 0.32
/** Pixels. */
const WIDE = 800
/** Pixels of the strokes that lead to the names, and of a Latin letter at 11 px. */
const STROKES = 20
const LETTER_WIDTH = 6.4

/** Letters of a name as wide as Latin ones: Chinese ones take the room of two. */
const lettersOf = (name: string): number =>
  [...name].reduce((sum, letter) => sum + (letter >= '\u2e80' ? 2 : 1), 0)

/** Letters of a value behind a name, with a space: the same for all, so that no plot changes its
 * width while one points. Bold ones, as in '100.0 %', are wider than those of a name. */
const VALUE = 10

/** Pixels right of the plot: room for the longest name and its value, as far as there is. */
export const nameGutter = (names: readonly string[], width: number): number =>
  Math.min(
    (width < WIDE ? MOST_GUTTER : MOST_GUTTER_WIDE) * width,
    STROKES + LETTER_WIDTH * (VALUE + Math.max(0, ...names.map(lettersOf))),
  )

/** A name, cut where a gutter of so many pixels has no room for it and its value. */
export function nameInGutter(name: string, gutter: number): string {
  // Of exactly so many letters the last is not lost to rounding.
  const most = Math.floor((gutter - STROKES) / LETTER_WIDTH + 1e-6) - VALUE
  const letters = lettersOf(name)
  return letters > most ? cutText(name, Math.floor(([...name].length * most) / letters)) : name
}
