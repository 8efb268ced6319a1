// Reads the course document: lessons, experiments and a teacher's own pages in an order, and what
// of the page is hidden and locked while it is taken. Takes hostile input.
import * as z from 'zod/mini'
import { Sha256 } from '../../formats/sha256.ts'
import { hasHidden } from '../../rl/fields/hidden.ts'
import { schemaIssues } from '../experiment/experiment.ts'
import { type Issue, sizeIssue } from '../experiment/fields/paths.ts'
import { decodeLink } from '../links/link.ts'
import { HIDE_PARTS, LOCK_PARTS } from '../links/view_options.ts'
import { LESSON_KEYS } from './lesson_keys.ts'

/** What a file of a course says it is. */
export const COURSE_FORMAT = 'understory-course-1'
const MOST_ITEMS = 30
const MOST_QUESTIONS = 10

/** Characters that are not seen could show a reader another text than the one that is there. */
const isSeen = (text: string) => !hasHidden(text.replaceAll(/[\n\t]/g, ' '))
const seen = (most: number, least = 1) =>
  z
    .string()
    .check(
      z.trim(),
      z.minLength(least, 'expected a text, found none'),
      z.maxLength(most),
      z.refine(isSeen, 'expected no characters that cannot be seen'),
    )

const questionSchema = z.strictObject({
  asks: seen(400),
  choices: z.array(seen(200)).check(z.minLength(2), z.maxLength(6)),
  /** Index of the right choice. */
  right: z.int().check(z.minimum(0)),
  /** Said after the right choice. */
  because: z._default(seen(600, 0), ''),
  /** Said after a wrong one. */
  hint: z._default(seen(600, 0), ''),
})
export type CourseQuestion = z.infer<typeof questionSchema>

const itemSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lesson'), lesson: seen(60) }),
  /** An experiment that is trained to its end. */
  z.strictObject({
    kind: z.literal('run'),
    title: seen(120),
    text: z._default(seen(4000, 0), ''),
    /** The query of a link. */
    link: seen(2000),
  }),
  /** A page of the teacher's own; an empty line begins a new paragraph. */
  z.strictObject({
    kind: z.literal('page'),
    title: seen(120),
    text: seen(4000),
    questions: z._default(z.array(questionSchema).check(z.maxLength(MOST_QUESTIONS)), []),
  }),
])
export type CourseItem = z.infer<typeof itemSchema>

const courseSchema = z.strictObject({
  format: z.literal(COURSE_FORMAT),
  title: seen(120),
  /** Who made it. */
  by: z._default(seen(120, 0), ''),
  /** What it is about. */
  says: z._default(seen(1000, 0), ''),
  /** Each item opens when those before it are finished. */
  in_order: z._default(z.boolean(), false),
  lock: z._default(z.array(z.enum(LOCK_PARTS)), []),
  hide: z._default(z.array(z.enum(HIDE_PARTS)), []),
  items: z
    .array(itemSchema)
    .check(z.minLength(1, 'expected a lesson, an experiment or a page'), z.maxLength(MOST_ITEMS)),
})
export type Course = z.infer<typeof courseSchema>

/** A course, or everything that is wrong with its document. */
export type ParsedCourse =
  | { readonly ok: true; readonly course: Course }
  | { readonly ok: false; readonly issues: readonly Issue[] }

function itemIssues(item: CourseItem, at: string): Issue[] {
  if (item.kind === 'lesson') {
    if (Object.hasOwn(LESSON_KEYS, item.lesson)) return []
    const message = `there is no lesson '${item.lesson}' in this version of the lab`
    return [{ path: `${at}.lesson`, message }]
  }
  if (item.kind === 'run')
    return decodeLink(item.link)
      .notices.slice(0, 1)
      .map((message) => ({ path: `${at}.link`, message }))
  return item.questions.flatMap(({ choices, right }, i) => {
    const path = `${at}.questions.${i}`
    const issues: Issue[] = []
    if (right >= choices.length)
      issues.push({
        path: `${path}.right`,
        message: `expected one of ${choices.length} choices, from 0, got ${right}`,
      })
    if (new Set(choices).size < choices.length)
      issues.push({ path: `${path}.choices`, message: 'expected each choice once' })
    return issues
  })
}

/** The document with its defaults. Nothing throws, and what is too large is refused before it is
 * parsed. */
export function parseCourse(document: unknown): ParsedCourse {
  const size = sizeIssue(document)
  if (size) return { ok: false, issues: [size] }
  const parsed = courseSchema.safeParse(document)
  if (!parsed.success) return { ok: false, issues: schemaIssues(parsed.error) }
  const { items } = parsed.data
  const issues = items.flatMap((item, i) => itemIssues(item, `items.${i}`))
  const lessons = items.flatMap((item) => (item.kind === 'lesson' ? [item.lesson] : []))
  if (new Set(lessons).size < lessons.length)
    issues.push({ path: 'items', message: 'expected each lesson once' })
  return issues.length > 0 ? { ok: false, issues } : { ok: true, course: parsed.data }
}

/** SHA-256 of a text in 32 hexadecimal digits. */
export function shortHash(text: string): string {
  const hash = new Sha256()
  hash.update(new TextEncoder().encode(text))
  return hash.digest().slice('sha256-'.length, 'sha256-'.length + 32)
}

/** Tells a course from every other one; a changed word makes another course. */
export const courseId = (course: Course): string => shortHash(JSON.stringify(course)).slice(0, 12)

/** The name under which progress in an item is kept: a lesson's is the same in every course. */
export const itemId = (course: Course, index: number): string => {
  const item = course.items[index]
  return item.kind === 'lesson' ? item.lesson : `${courseId(course)}/${index}`
}

/** Names of what there is to do in an item that is no lesson. */
export const partNames = (item: CourseItem): readonly string[] =>
  item.kind === 'page' ? item.questions.map((_, i) => `q${i}`) : ['run']
