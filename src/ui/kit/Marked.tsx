// Marks in a text what a search found.
import { type Marks, markedParts } from './fuzzy.ts'
import { t } from './translator.ts'

/** A text with what a search found in it marked; a search looks through it in the page's
 * language. */
export function Marked({ text, marks }: { text: string; marks: Marks }) {
  if (marks.length === 0) return t(text)
  return markedParts(t(text), marks).map((part, i) =>
    // Parts have no name of their own, and change as a whole.
    part.isMarked ? <mark key={i}>{part.text}</mark> : part.text,
  )
}
