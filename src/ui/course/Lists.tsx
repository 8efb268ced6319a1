// Draws the open course with its items, all lessons, and what can be done with them.
import { useStore } from 'zustand'
import { type Course, type CourseItem, itemId } from '../../document/course/course.ts'
import { progressFileText } from '../../document/course/progress.ts'
import { saveFile } from '../kit/save.ts'
import { progressStore } from '../lessons/base/progress.ts'
import { LessonList, LessonRow } from '../lessons/Lessons.tsx'
import { lessonOf } from '../lessons/lessons.ts'
import { chooseFile } from '../open/files.ts'
import { openLesson } from '../open/open_lesson.ts'
import { closeCourse, courseStore, isOpenable } from './course_store.ts'
import { itemTitle, openItem } from './items.ts'
import { Paragraphs } from './Paragraphs.tsx'
import { CHECK_CODE, HAND_IN, MAKE_COURSE } from './pages.ts'

function itemSays(item: CourseItem): string {
  if (item.kind === 'lesson') return lessonOf(item.lesson)?.says ?? ''
  if (item.kind === 'run') return 'Something to train.'
  const { length } = item.questions
  return length === 0
    ? 'Something to read.'
    : `Something to read, and ${length} ${length === 1 ? 'question' : 'questions'}.`
}

const minutesOf = (item: CourseItem): string =>
  item.kind === 'lesson' ? `${lessonOf(item.lesson)?.minutes ?? ''} min` : ''

function OpenCourse({ course }: { readonly course: Course }) {
  const progress = useStore(progressStore)
  const { title, by, says, items, in_order } = course
  return (
    <section className="course" data-testid="course">
      <h3>{title}</h3>
      {by === '' ? null : <p className="soft">By {by}</p>}
      {says === '' ? null : <Paragraphs text={says} />}
      {in_order ? <p className="soft">Each part opens when those before it are finished.</p> : null}
      <ol className="lesson-list">
        {items.map((item, i) => (
          <LessonRow
            key={itemId(course, i)}
            id={itemId(course, i)}
            title={itemTitle(item)}
            says={itemSays(item)}
            number={i + 1}
            minutes={minutesOf(item)}
            testId={`course-item-${i}`}
            onOpen={isOpenable(course, i, progress) ? () => openItem(item, i) : undefined}
          />
        ))}
      </ol>
      <p className="course-ways">
        <button
          type="button"
          className="primary"
          data-testid="hand-in-course"
          onClick={() => openLesson(HAND_IN)}
        >
          Hand in …
        </button>
        <button type="button" data-testid="close-course" onClick={closeCourse}>
          Close the course
        </button>
      </p>
    </section>
  )
}

function saveProgress(): void {
  const text = progressFileText(progressStore.getState())
  saveFile('understory.progress.json', new Blob([text], { type: 'application/json' }))
}

/** An open course has its own way to hand in. */
function Ways({ isCourseOpen }: { readonly isCourseOpen: boolean }) {
  const page = (name: string, words: string) => (
    <button type="button" data-testid={`open-${name}`} onClick={() => openLesson(name)}>
      {words}
    </button>
  )
  return (
    <section className="course-more" aria-label="Progress and courses">
      <h3>Your progress</h3>
      <p className="soft">
        It is remembered in this browser alone. A file takes it to another one, where it is added to
        what is there.
      </p>
      <p className="course-ways">
        <button type="button" data-testid="save-progress" onClick={saveProgress}>
          Save progress
        </button>
        <button type="button" data-testid="open-taught" onClick={() => chooseFile()}>
          Open progress or a course …
        </button>
        {isCourseOpen ? null : page(HAND_IN, 'Hand in …')}
      </p>
      <h3>For teachers</h3>
      <p className="course-ways">
        {page(MAKE_COURSE, 'Make a course')}
        {page(CHECK_CODE, 'Check a code')}
      </p>
    </section>
  )
}

export function Lists() {
  const { course, problem } = useStore(courseStore)
  return (
    <>
      {problem === undefined ? null : (
        <p role="alert" className="course-problem" data-testid="course-problem">
          {problem}
        </p>
      )}
      {course ? (
        <>
          <OpenCourse course={course} />
          <details>
            <summary>All lessons of the lab</summary>
            <LessonList />
          </details>
        </>
      ) : (
        <>
          <p className="soft">
            Each has text to read, questions, and something to train, which needs a GPU.
          </p>
          <LessonList />
        </>
      )}
      <Ways isCourseOpen={course !== undefined} />
    </>
  )
}
