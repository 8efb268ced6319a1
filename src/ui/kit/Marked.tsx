// Marks in a text what a search found.
import { type Marks, markedParts } from './fuzzy.ts'

/** A text as it is shown, with what a search found in it marked: a piece of it is no text of its
 * own that could be translated. */
export function Marked({ text, marks }: { text: string; marks: Marks }) {
  if (marks.length === 0) return text
  return markedParts(text, marks).map((part, i) =>
    // Parts have no name of their own, and change as a whole.
    part.isMarked ? <mark key={i}>{part.text}</mark> : part.text,
  )
}
