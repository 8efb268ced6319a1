// Makes a course: its items in their order, what is locked while it is taken, and its link or file.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { Course } from '../../document/course/course.ts'
import { courseFileText, encodeCourse, MOST_LINK } from '../../document/course/course_link.ts'
import { encodeLink } from '../../document/links/link.ts'
import { withParts } from '../../document/links/view.ts'
import { LOCK_PARTS, NO_OPTIONS, optionParts } from '../../document/links/view_options.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { labPage } from '../../page/connection/connection.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { labStore } from '../../page/state/store.ts'
import { fileSlug } from '../../record/files/file_names.ts'
import { formatCount } from '../kit/format.ts'
import { saveFile } from '../kit/save.ts'
import { LESSONS } from '../lessons/lessons.ts'
import { PresetOptions } from '../part/PresetOptions.tsx'
import { LOCKED } from '../share/names.ts'
import { issueWords, openCourse, viewOf } from './course_store.ts'
import { addItem, changeDraft, courseOf, type Draft, draftStore } from './draft.ts'
import { CheckField, TextField } from './fields.tsx'
import { ItemFields } from './ItemFields.tsx'
import { useCopying } from './use_copying.ts'

const addRun = (title: string, link: string) => addItem({ kind: 'run', title, text: '', link })

function AddLesson({ items }: Pick<Draft, 'items'>) {
  const taken = items.map(({ item }) => (item.kind === 'lesson' ? item.lesson : ''))
  const left = LESSONS.filter(({ id }) => !taken.includes(id))
  const [wanted, setWanted] = useState('')
  const lesson = left.find(({ id }) => id === wanted) ?? left[0]
  if (!lesson) return null
  return (
    <p className="course-add">
      <select
        aria-label="A lesson of the lab"
        data-testid="course-lesson"
        value={lesson.id}
        onChange={({ target }) => setWanted(target.value)}
      >
        {left.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
      <button
        type="button"
        data-testid="add-lesson"
        onClick={() => addItem({ kind: 'lesson', lesson: lesson.id })}
      >
        Add the lesson
      </button>
    </p>
  )
}

function AddItems({ items }: Pick<Draft, 'items'>) {
  const [preset, setPreset] = useState('tiny-grpo')
  const addPreset = () => {
    const found = presetOf(preset)
    if (found) addRun(found.name, encodeLink(found.experiment))
  }
  const addSettings = () => {
    const experiment = { ...nextExperiment(labStore.getState()), steering: [] }
    addRun(experiment.name ?? 'An experiment', encodeLink(experiment))
  }
  return (
    <fieldset>
      <legend>Add</legend>
      <AddLesson items={items} />
      <p className="course-add">
        <select
          aria-label="A preset"
          data-testid="course-preset"
          value={preset}
          onChange={({ target }) => setPreset(target.value)}
        >
          <PresetOptions />
        </select>
        <button type="button" data-testid="add-preset" onClick={addPreset}>
          Add the preset
        </button>
      </p>
      <p className="course-add">
        <button type="button" data-testid="add-settings" onClick={addSettings}>
          Add the settings as they are now
        </button>
        <button
          type="button"
          data-testid="add-page"
          onClick={() => addItem({ kind: 'page', title: '', text: '', questions: [] })}
        >
          Add a page of your own
        </button>
      </p>
    </fieldset>
  )
}

function About({ draft }: { readonly draft: Draft }) {
  const { title, by, says, in_order, lock } = draft
  return (
    <>
      <TextField
        label="Title"
        testId="course-title"
        value={title}
        onValue={(value) => changeDraft({ title: value })}
      />
      <TextField
        label="By"
        testId="course-by"
        value={by}
        onValue={(value) => changeDraft({ by: value })}
      />
      <TextField
        label="What it is about"
        testId="course-says"
        rows={2}
        value={says}
        onValue={(value) => changeDraft({ says: value })}
      />
      <CheckField
        testId="course-in-order"
        checked={in_order}
        onChange={(on) => changeDraft({ in_order: on })}
      >
        Each part opens when those before it are finished
      </CheckField>
      <fieldset>
        <legend>Lock while it is taken</legend>
        {LOCK_PARTS.map((part) => (
          <CheckField
            key={part}
            testId={`course-lock-${part}`}
            checked={lock.includes(part)}
            onChange={(on) =>
              changeDraft({
                lock: LOCK_PARTS.filter((one) => (one === part ? on : lock.includes(one))),
              })
            }
          >
            {LOCKED[part]}
          </CheckField>
        ))}
      </fieldset>
    </>
  )
}

function Made({ course }: { readonly course: Course }) {
  const { field, copy } = useCopying()
  const text = encodeCourse(course)
  const parts = { ...optionParts({ ...NO_OPTIONS, ...viewOf(course) }), course: text }
  const url = `${labPage().address}${withParts('', parts)}`
  const isLink = text.length <= MOST_LINK
  const save = () => {
    const blob = new Blob([courseFileText(course)], { type: 'application/json' })
    saveFile(`${fileSlug(course.title) || 'course'}.course.json`, blob)
  }
  return (
    <>
      {isLink ? (
        <label>
          <span>Link, {formatCount(url.length)} characters</span>
          <textarea ref={field} data-testid="course-link" readOnly rows={3} value={url} />
        </label>
      ) : (
        <p className="soft">
          It is too long for a link: send it as a file, which opens on the page.
        </p>
      )}
      <p className="course-ways">
        {isLink ? (
          <button
            type="button"
            className="primary"
            data-testid="copy-course"
            onClick={() => void copy(url, 'Link')}
          >
            Copy link
          </button>
        ) : null}
        <button type="button" data-testid="save-course" onClick={save}>
          Save as a file
        </button>
        <button type="button" data-testid="try-course" onClick={() => openCourse(course)}>
          Open it here
        </button>
      </p>
    </>
  )
}

/** Issues that are shown at once. */
const MOST_ISSUES = 5

export function MakeCourse() {
  const draft = useStore(draftStore)
  const parsed = useMemo(() => courseOf(draft), [draft])
  return (
    <div className="course-form">
      <p className="soft">
        Lessons, experiments and pages of your own in an order. Right answers are part of the
        course: who looks into its link or file can read them.
      </p>
      <About draft={draft} />
      <AddItems items={draft.items} />
      {draft.items.length === 0 ? null : (
        <ol className="course-items">
          {draft.items.map((of, i) => (
            <ItemFields key={of.key} of={of} index={i} />
          ))}
        </ol>
      )}
      {parsed.ok ? (
        <Made course={parsed.course} />
      ) : (
        <ul className="course-problem" aria-label="Still missing" data-testid="course-missing">
          {parsed.issues.slice(0, MOST_ISSUES).map((issue) => (
            <li key={issue.path + issue.message}>{issueWords(issue)}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
