// Checks what was handed in: each answer against the right one, each run against the experiment
// that was asked for.
import type { HandedIn } from '../../document/course/code.ts'
import { type Course, type CourseItem, courseId, itemId } from '../../document/course/course.ts'
import { LESSON_KEYS, type LessonKey } from '../../document/course/lesson_keys.ts'
import type { TriedRun } from '../../document/course/progress.ts'
import { decodeLink } from '../../document/links/link.ts'
import { otherThanAsked } from './asked.ts'
import { documentHash } from './curves_hash.ts'

/** One question or one run. */
export interface CheckedPart {
  readonly asks: string
  readonly is_right: boolean
  readonly says: string
  /** What trains it again; undefined for a question. */
  readonly run?: TriedRun
}

export interface CheckedItem {
  readonly title: string
  readonly parts: readonly CheckedPart[]
}

export interface CheckedCode {
  /** The course, or the lesson. */
  readonly title: string
  readonly by: string
  readonly understory: string
  readonly items: readonly CheckedItem[]
  readonly right: number
  readonly of: number
  /** What keeps a part from being judged, a sentence each. */
  readonly notes: readonly string[]
}

/** What a code does and does not show; said wherever one is made or checked. */
export const WHAT_IT_PROVES =
  'A code shows that it came whole, which choices were made, and which runs were named. It does not show who made it, nor that a run was trained: who can read this program can write a code. The hash of a run’s curves can be tested: train its link again on the same kind of GPU with the same browser, and the curves have the same hash.'

type Key = LessonKey

/** A new version adds fields, so the same link opens a document with another hash. */
const OTHER_VERSION =
  ' Its document has another hash here, so the code was made by another version of the lab, or by hand.'

function checkedQuestion(
  { asks, right, choices }: Key['questions'][string],
  chosen: readonly number[] | undefined,
): CheckedPart {
  if (!chosen) return { asks, is_right: false, says: 'Not answered.' }
  const last = chosen[chosen.length - 1]
  if (chosen.some((index) => index >= choices))
    return {
      asks,
      is_right: false,
      says: 'The code names a choice that the question does not have.',
    }
  const is_right = last === right
  const tries = chosen.length === 1 ? 'at the first try' : `after ${chosen.length} tries`
  return { asks, is_right, says: is_right ? `Right, ${tries}.` : `Wrong, ${tries}.` }
}

function checkedRun(asked: string, run: TriedRun | undefined): CheckedPart {
  const asks = 'The experiment'
  if (!run) return { asks, is_right: false, says: 'Not trained.' }
  const { experiment, notices } = decodeLink(run.link)
  const wrong = (says: string): CheckedPart => ({ asks, is_right: false, says, run })
  if (notices.length > 0) return wrong(`Its link is not understood: ${notices[0]}`)
  const other = otherThanAsked(experiment, asked)
  if (other !== undefined) return wrong(`Another run than the one that was asked for: ${other}.`)
  const isSame = documentHash(run.link) === run.document
  const says = `The run that was asked for, seed ${experiment.seed}, ${run.step} steps on ${run.adapter}; hash of its curves ${run.curves}.${isSame ? '' : OTHER_VERSION}`
  return { asks, is_right: true, says, run }
}

/** An item of a course that is no lesson, as a lesson's key. */
function keyOf(item: Exclude<CourseItem, { kind: 'lesson' }>): Key {
  const { title } = item
  if (item.kind === 'run') return { title, questions: {}, tries: { run: item.link } }
  const questions = item.questions.map(
    ({ asks, right, choices }, i) => [`q${i}`, { asks, right, choices: choices.length }] as const,
  )
  return { title, questions: Object.fromEntries(questions), tries: {} }
}

/** Keys of all items of a course, by their ids. */
const courseKeys = (course: Course): ReadonlyMap<string, Key> =>
  new Map(
    course.items.map((item, i) => [
      itemId(course, i),
      item.kind === 'lesson' ? LESSON_KEYS[item.lesson] : keyOf(item),
    ]),
  )

/** Judges a code. `course`: the one that it is of, where it is at hand: without it a teacher's own
 * questions cannot be judged. Throws RangeError where it is another one. */
export function checkCode(handed: HandedIn, course?: Course): CheckedCode {
  const { by, understory } = handed
  if (course && handed.course?.id !== courseId(course))
    throw new RangeError(
      `The code is of ${handed.course ? `“${handed.course.title}”` : 'a lesson alone'}, not of this “${course.title}”. A course with a changed word is another one.`,
    )
  const own = course && courseKeys(course)
  const notes: string[] = []
  const given = new Map(handed.items.map((item) => [item.id, item]))
  const ids = own ? [...own.keys()] : [...given.keys()]
  const items = ids.flatMap((id): CheckedItem[] => {
    const key = own?.get(id) ?? (Object.hasOwn(LESSON_KEYS, id) ? LESSON_KEYS[id] : undefined)
    if (!key) {
      notes.push(
        id.includes('/')
          ? 'A page of the course’s own cannot be judged without the course: give its file.'
          : `This version of the lab has no lesson ‘${id}’.`,
      )
      return []
    }
    const { chosen = {}, runs = {} } = given.get(id) ?? {}
    const parts = [
      ...Object.entries(key.questions).map(([name, question]) =>
        checkedQuestion(question, chosen[name]),
      ),
      ...Object.entries(key.tries).map(([name, link]) => checkedRun(link, runs[name])),
    ]
    return [{ title: key.title, parts }]
  })
  const all = items.flatMap(({ parts }) => parts)
  const right = all.filter(({ is_right }) => is_right).length
  const title = handed.course?.title ?? items[0]?.title ?? handed.items[0].id
  return { title, by, understory, items, right, of: all.length, notes: [...new Set(notes)] }
}
