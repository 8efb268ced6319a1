// Opens files of a person who teaches or learns: a course, or progress in the lessons.
import { isCourseText, readCourseText } from '../../document/course/course_link.ts'
import { isProgressText, readProgressText } from '../../document/course/progress.ts'
import { bringProgress } from '../lessons/base/progress.ts'
import { ALL_LESSONS, openLesson } from '../open/open_lesson.ts'
import { showToast } from '../shown/store.ts'
import { issueWords, openCourse } from './course_store.ts'

/** What is wrong with the file, nothing where it was opened; undefined where it is another kind of
 * file. */
export function openTaughtFile(text: string): readonly string[] | undefined {
  if (isCourseText(text)) {
    const read = readCourseText(text)
    if (!read.ok) return ['The course was not opened.', ...read.issues.map(issueWords)]
    openCourse(read.course)
    return []
  }
  if (!isProgressText(text)) return undefined
  const read = readProgressText(text)
  if (!read.ok) return ['Nothing of the progress was taken.', ...read.issues.map(issueWords)]
  bringProgress(read.progress)
  openLesson(ALL_LESSONS)
  const count = Object.keys(read.progress).length
  showToast(`Progress in ${count} ${count === 1 ? 'lesson' : 'lessons'} was added.`)
  return []
}
