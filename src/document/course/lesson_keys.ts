// Says what the lessons ask and which choice is right, for who checks answers without a lesson.
// lesson_keys.json is written from the lessons by their own test.
import keys from './lesson_keys.json' with { type: 'json' }

/** One lesson: its questions and what it has trained, by the names of their parts. */
export interface LessonKey {
  readonly title: string
  readonly questions: Readonly<
    Record<string, { readonly asks: string; readonly right: number; readonly choices: number }>
  >
  /** Queries of links. */
  readonly tries: Readonly<Record<string, string>>
}

export const LESSON_KEYS: Readonly<Record<string, LessonKey>> = keys
