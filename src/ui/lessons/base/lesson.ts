// Declares a lesson: text with formulas, questions with an answer, and things to try whose result
// is checked.
import type { ComponentType } from 'react'
import type { RunFacts } from './run_facts.ts'

/** A question with one right choice. */
export interface Question {
  readonly kind: 'question'
  readonly asks: string
  readonly choices: readonly { readonly text: string; readonly is_right?: true }[]
  /** Said after the right choice. */
  readonly because: string
  /** Said after a wrong one: what to look at, not the answer. */
  readonly hint: string
}

/** Whether a run shows what is to be seen, and a sentence about its numbers. */
export interface Checked {
  readonly is_done: boolean
  readonly says: string
  /** It says how far the run is, and nothing else. */
  readonly isOnlySteps?: boolean
}

/** An experiment that the lesson puts into the settings, and what its run has to show. */
export interface TryIt {
  readonly kind: 'try'
  readonly does: string
  /** The query of a link (document/links). */
  readonly link: string
  readonly check: (run: RunFacts) => Checked
  /** A chart that it speaks of and that is else behind “More charts”, by its id. */
  readonly pins?: string | undefined
}

export interface Source {
  readonly title: string
  /** e.g. 'arXiv 2402.03300, section 4.1'. */
  readonly where: string
  readonly url: string
}

/** What is loaded when a lesson is opened. */
export interface LessonContent {
  /** Questions and things to try, by name. */
  readonly parts: Readonly<Record<string, Question | TryIt>>
  readonly Body: ComponentType
  readonly sources: readonly Source[]
}

/** What the list of lessons says. */
export interface Lesson {
  /** Links contain it: it never changes. */
  readonly id: string
  readonly title: string
  readonly says: string
  readonly minutes: number
  readonly load: () => Promise<LessonContent>
}

export const question = (
  asks: string,
  choices: Question['choices'],
  because: string,
  hint: string,
): Question => ({ kind: 'question', asks, choices, because, hint })

export const tryIt = (does: string, link: string, check: TryIt['check'], pins?: string): TryIt => ({
  kind: 'try',
  does,
  link,
  check,
  pins,
})

/** A place in a paper. */
export const section = (number: string): string => `section ${number}`
export const equation = (number: string): string => `equation ${number}`

/** A paper on arXiv. */
export const arxiv = (id: string, title: string, part = ''): Source => ({
  title,
  where: `arXiv ${id}${part === '' ? '' : `, ${part}`}`,
  url: `https://arxiv.org/abs/${id}`,
})
