// Declares what a person did in the lessons: answers, and the runs that met what was asked. It is
// kept in the browser, taken along as a file, and handed in. Takes hostile input.
import * as z from 'zod/mini'
import { schemaIssues } from '../experiment/experiment.ts'
import type { Issue } from '../experiment/fields/paths.ts'

const PROGRESS_FORMAT = 'understory-progress-1'
/** Choices of one question that are kept, the first ones. */
const MOST_CHOICES = 20
const MOST_TEXT = 1_000_000
const MOST_LESSONS = 500
const MOST_PARTS = 40
/** Characters of what a check said. */
const MOST_RESULT = 1000

const name = z.string().check(z.regex(/^(?!(?:__proto__|constructor|prototype)$)[\w./-]{1,60}$/))
const hash = z.string().check(z.regex(/^[0-9a-f]{32}$/))
const few = (what: string, most: number) =>
  z.refine<object>((all) => Object.keys(all).length <= most, `expected at most ${most} ${what}`)

/** A run that met what was asked. */
const runSchema = z.strictObject({
  /** The query of a link that trains it again, with what was done to it. */
  link: z.string().check(z.maxLength(4000)),
  /** Steps that it had. */
  step: z.int().check(z.minimum(0)),
  /** Of the document that the link holds. */
  document: hash,
  /** Of its curves up to that step. */
  curves: hash,
  adapter: z.string().check(z.maxLength(80)),
})
export type TriedRun = z.infer<typeof runSchema>

const answers = z
  .array(z.int().check(z.minimum(0), z.maximum(9)))
  .check(z.minLength(1), z.maxLength(MOST_CHOICES))
export const chosenSchema = z.record(name, answers).check(few('questions', MOST_PARTS))
export const runsSchema = z.record(name, runSchema).check(few('runs', MOST_PARTS))
const resultsSchema = z
  .record(name, z.string().check(z.maxLength(MOST_RESULT)))
  .check(few('results', MOST_PARTS))

export const lessonProgressSchema = z.object({
  /** Names of its parts. */
  done: z.array(name).check(z.maxLength(MOST_PARTS)),
  is_finished: z.boolean(),
  /** Choices of each question in the order in which they were made; earlier versions kept none. */
  chosen: z._default(chosenSchema, {}),
  runs: z._default(runsSchema, {}),
  /** What the check said of a run that met it; earlier versions kept none. */
  results: z._default(resultsSchema, {}),
})
export type LessonProgress = z.infer<typeof lessonProgressSchema>
export type Progress = Readonly<Record<string, LessonProgress>>

export const NOTHING_DONE: LessonProgress = {
  done: [],
  is_finished: false,
  chosen: {},
  runs: {},
  results: {},
}

/** The choices with one more. */
export const withChoice = (
  chosen: LessonProgress['chosen'],
  part: string,
  index: number,
): LessonProgress['chosen'] => ({
  ...chosen,
  [part]: [...(chosen[part] ?? []), index].slice(0, MOST_CHOICES),
})

const fileSchema = z.strictObject({
  format: z.literal(PROGRESS_FORMAT),
  lessons: z.record(name, lessonProgressSchema).check(few('lessons', MOST_LESSONS)),
})

export const progressFileText = (lessons: Progress): string =>
  `${JSON.stringify({ format: PROGRESS_FORMAT, lessons }, null, 2)}\n`

/** Whether a text claims to be such a file. */
export const isProgressText = (text: string): boolean => text.includes(`"${PROGRESS_FORMAT}"`)

export type ReadProgress =
  | { readonly ok: true; readonly progress: Progress }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** The progress of a file, or what is wrong with it. Never throws. */
export function readProgressText(text: string): ReadProgress {
  const refuse = (issues: readonly Issue[]) => ({ ok: false, issues }) as const
  if (text.length > MOST_TEXT)
    return refuse([
      { path: '', message: `expected at most ${MOST_TEXT} characters, got ${text.length}` },
    ])
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    const message = `it is not JSON: ${error instanceof Error ? error.message : error}`
    return refuse([{ path: '', message }])
  }
  const parsed = fileSchema.safeParse(document)
  if (!parsed.success) return refuse(schemaIssues(parsed.error))
  return { ok: true, progress: parsed.data.lessons }
}

/** Both together: what was done in either is done, and of two answers or runs of one part the one
 * that was there stays. */
export function mergedProgress(own: Progress, other: Progress): Progress {
  const merged = Object.entries(other).map(([lesson, theirs]): [string, LessonProgress] => {
    const mine = own[lesson] ?? NOTHING_DONE
    const both = {
      done: [...new Set([...mine.done, ...theirs.done])],
      is_finished: mine.is_finished || theirs.is_finished,
      chosen: { ...theirs.chosen, ...mine.chosen },
      runs: { ...theirs.runs, ...mine.runs },
      results: { ...theirs.results, ...mine.results },
    }
    return [lesson, both]
  })
  return { ...own, ...Object.fromEntries(merged) }
}
