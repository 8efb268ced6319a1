// Writes and reads a course as the part `course` of a page's hash, and as a file. Takes hostile
// input.
import { pack, unpack } from '../links/packed.ts'
import { COURSE_FORMAT, type Course, type ParsedCourse, parseCourse } from './course.ts'

/** Longer courses are no link: they are sent as files. The page reads 8000 characters of a hash. */
export const MOST_LINK = 7000
const LIMITS = { mostText: MOST_LINK, mostBytes: 200_000 }

export const encodeCourse = (course: Course): string => pack(course)

/** The course of a link, or what is wrong with it. Never throws. */
export function decodeCourse(text: string): ParsedCourse {
  try {
    return parseCourse(unpack(text, LIMITS))
  } catch {
    const message = 'the link’s course cannot be read: it was cut off or changed on its way'
    return { ok: false, issues: [{ path: '', message }] }
  }
}

export const courseFileText = (course: Course): string => `${JSON.stringify(course, null, 2)}\n`

/** Whether a text claims to be a course. */
export const isCourseText = (text: string): boolean => text.includes(`"${COURSE_FORMAT}"`)

/** The course of a file, or what is wrong with it. Never throws. */
export function readCourseText(text: string): ParsedCourse {
  try {
    return parseCourse(JSON.parse(text))
  } catch (error) {
    const message = `it is not JSON: ${error instanceof Error ? error.message : error}`
    return { ok: false, issues: [{ path: '', message }] }
  }
}
