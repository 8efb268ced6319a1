// Checks a code that was handed in: what was answered, what was trained.
import { CircleCheck, CircleX } from 'lucide-react'
import { useId, useState } from 'react'
import { useStore } from 'zustand'
import { readCode } from '../../document/course/code.ts'
import { type Course, courseId } from '../../document/course/course.ts'
import {
  type CheckedCode,
  type CheckedPart,
  checkCode,
  WHAT_IT_PROVES,
} from '../../record/handed_in/check_code.ts'
import { courseStore } from './course_store.ts'

type Outcome = { readonly checked: CheckedCode } | { readonly why: string }

function outcomeOf(text: string, course: Course | undefined): Outcome {
  const read = readCode(text)
  if (!read.ok) return { why: read.why }
  const own = course && read.handed.course?.id === courseId(course) ? course : undefined
  return { checked: checkCode(read.handed, own) }
}

function Part({ part: { asks, is_right, says, run } }: { readonly part: CheckedPart }) {
  const Icon = is_right ? CircleCheck : CircleX
  return (
    <li data-right={is_right}>
      <Icon className="icon" aria-hidden="true" /> {asks}{' '}
      <span className={is_right ? 'soft' : 'lesson-wrong'}>{says}</span>
      {run ? (
        <>
          {' '}
          <a href={`?${run.link}`} target="_blank" rel="noopener">
            Open it
          </a>
        </>
      ) : null}
    </li>
  )
}

function Result({ checked }: { readonly checked: CheckedCode }) {
  const { title, by, understory, items, right, of, notes } = checked
  return (
    <div role="status" className="checked" data-testid="checked">
      <p>
        <b>
          {by === '' ? 'No name' : by}: {right} of {of} right
        </b>{' '}
        in “{title}” (Understory {understory})
      </p>
      {notes.map((note) => (
        <p key={note} className="lesson-wrong">
          {note}
        </p>
      ))}
      {items.map((item) => (
        <section key={item.title}>
          <h3>{item.title}</h3>
          {item.parts.length === 0 ? (
            <p className="soft">Nothing was asked.</p>
          ) : (
            <ul>
              {item.parts.map((part) => (
                <Part key={`${part.asks} ${part.says}`} part={part} />
              ))}
            </ul>
          )}
        </section>
      ))}
    </div>
  )
}

export function CheckCode() {
  const { course } = useStore(courseStore)
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState<Outcome>()
  const id = useId()
  return (
    <form
      className="course-form"
      onSubmit={(event) => {
        event.preventDefault()
        setOutcome(outcomeOf(text, course))
      }}
    >
      <label htmlFor={id}>The code that was handed in</label>
      <textarea
        id={id}
        data-testid="check-text"
        rows={6}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <p>
        <button type="submit" className="primary" data-testid="check">
          Check
        </button>
      </p>
      <p className="soft">
        A code of a course is checked where the course is open. {WHAT_IT_PROVES}
      </p>
      {outcome && 'why' in outcome ? (
        <p role="alert" className="course-problem" data-testid="check-refused">
          {outcome.why}
        </p>
      ) : null}
      {outcome && 'checked' in outcome ? <Result checked={outcome.checked} /> : null}
    </form>
  )
}
