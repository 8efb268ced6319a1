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
export const lettersOf = (name: string): number =>
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

/** A name, cut where so many Latin letters have room. */
export function cutName(name: string, most: number): string {
  if (lettersOf(name) <= most) return name
  const letters = [...name]
  while (lettersOf(letters.join('')) >= most && letters.pop());
  return `${letters.join('')}…`
}

/** How many letters of a name a gutter of so many pixels has room for, beside its value; all of
 * them where it has. */
function roomFor(name: string, gutter: number): number {
  // Of exactly so many letters the last is not lost to rounding.
  const most = Math.floor((gutter - STROKES) / LETTER_WIDTH + 1e-6) - VALUE
  const [letters, width] = [[...name].length, lettersOf(name)]
  return width > most ? Math.floor((letters * most) / width) : letters
}

/** Its beginning and its end, with an ellipsis between. */
function cutWithin(name: string, most: number): string {
  const letters = [...name]
  const tail = Math.floor((most - 1) / 2)
  return letters.length > most && tail > 0
    ? `${letters.slice(0, most - 1 - tail).join('')}…${letters.slice(-tail).join('')}`
    : name
}

/** A name as it is said at the end of its line, with an ellipsis in place of what it leaves out of
 * the whole one. */
export function partOfName(label: string, whole: string, say: (name: string) => string): string {
  if (label === whole) return say(label)
  return whole.startsWith(label) ? `${say(label)} …` : `… ${say(label)}`
}

/** How many letters two names begin with alike. */
function alike(name: readonly string[], other: readonly string[]): number {
  const at = name.findIndex((letter, i) => letter !== other[i])
  return at < 0 ? name.length : at
}

/** A name from the word on where it parts from all of the others. */
function cutBefore(name: string, others: readonly string[], most: number): string {
  const letters = [...name]
  const at = Math.max(...others.map((other) => alike(letters, [...other])))
  const word = letters.lastIndexOf(' ', at - 1) + 1
  // Of a long word only the end would tell them apart.
  const from = at - word < most / 2 ? word : at
  return `…${cutText(letters.slice(from).join(''), most - 1)}`
}

/** Names, each cut where a gutter of so many pixels has no room for it and its value: at its end;
 * where it would look like another one, within; and where it would still, before what differs. */
export function namesInGutter(names: readonly string[], gutter: number): readonly string[] {
  const apart = (
    cut: readonly string[],
    again: (name: string, most: number, same: readonly string[]) => string,
  ) =>
    cut.map((part, i) => {
      const same = names.filter((name, k) => cut[k] === part && name !== names[i])
      return same.length > 0 ? again(names[i], roomFor(names[i], gutter), same) : part
    })
  const atEnd = names.map((name) => cutText(name, roomFor(name, gutter)))
  return apart(apart(atEnd, cutWithin), (name, most, same) => cutBefore(name, same, most))
}
