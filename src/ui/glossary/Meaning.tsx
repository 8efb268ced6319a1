// Shows what a term of the glossary means.
import { BookOpen } from 'lucide-react'
import { lessonOf } from '../lessons/lessons.ts'
import { Formula } from '../lessons/parts/Formula.tsx'
import type { Term } from './terms.ts'

interface MeaningProps {
  readonly term: Term
  readonly onLesson: (id: string) => void
}

/** A term's words, its formula and the way to its lesson. */
export function Meaning({ term: { says, tex, lesson = '' }, onLesson }: MeaningProps) {
  const more = lessonOf(lesson)
  return (
    <>
      <p>{says}</p>
      {tex === undefined ? null : <Formula tex={tex} />}
      {more ? (
        <button type="button" className="plain" onClick={() => onLesson(more.id)}>
          <BookOpen className="icon" aria-hidden="true" /> {more.title}
        </button>
      ) : null}
    </>
  )
}
