// Chooses the other model that a phase learns from, beside the setting that asks for one.
import { useEffect, useId, useState } from 'react'
import { useStore } from 'zustand'
import { listModels, openedModelStore } from '../../../page/opened/opened_model.ts'
import { type Library, libraryStore } from '../../../page/runs/library/library_store.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatBytes } from '../../kit/format.ts'
import { showDialog } from '../../open/dialogs.ts'
import { useLab } from '../../shown/run.ts'
import { type TeacherGroup, teach, teacherGroups } from './teachers.ts'

const selectTeacher = ({ experiment }: LabState) => experiment.teacher
/** What it takes of the GPU's memory, once the run of these settings is planned. */
const selectBytes = ({ plan }: LabState) => plan?.teacher_bytes
const selectEntries = ({ entries }: Library) => entries

/** What can teach, as it is now: asked again when a run or a kept model comes or goes. */
function useTeachers(): readonly TeacherGroup[] {
  const kept = useStore(openedModelStore, (state) => state.kept)
  const entries = useStore(libraryStore, selectEntries)
  const [groups, setGroups] = useState<readonly TeacherGroup[]>([])
  useEffect(listModels, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list of runs has other states.
  useEffect(() => {
    let isAsked = true
    void teacherGroups(kept?.models ?? []).then((found) => {
      if (isAsked) setGroups(found)
    })
    return () => {
      isAsked = false
    }
  }, [kept, entries])
  return groups
}

const memoryWords = (bytes: number | undefined) =>
  bytes === undefined
    ? ''
    : ` With room for its passes and answers it takes ${formatBytes(bytes)} of the GPU’s memory beside the run.`

/** A model's name of one word may be a word of the page too: it stays a name. */
const asNamed = (name: string): 'no' | undefined => (/\s/.test(name) ? undefined : 'no')

/** `path`: the setting that a teacher gives an effect. */
export function TeacherChoice({ path }: { readonly path: string }) {
  const { source, source_name, num_hidden_layers, hidden_size } = useLab(selectTeacher)
  const bytes = useLab(selectBytes)
  const groups = useTeachers()
  const [doing, setDoing] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const id = `teacher-of-${path.replaceAll('.', '-')}`
  const helpId = useId()
  const choose = async (chosen: string) => {
    const teacher = groups.flatMap(([, own]) => own).find((one) => one.id === chosen)
    if (!teacher) return
    setProblem(undefined)
    setDoing(`Keeping ${teacher.name} as a teacher …`)
    setProblem(await teach(teacher, path))
    setDoing(undefined)
  }
  return (
    <div className="field teacher-choice">
      <div className="field-head">
        <label htmlFor={id}>Model that teaches</label>
      </div>
      <select
        id={id}
        data-testid={id}
        aria-describedby={helpId}
        aria-invalid={problem !== undefined || undefined}
        disabled={doing !== undefined}
        value=""
        onChange={({ target }) => void choose(target.value)}
      >
        <option value="" translate={source === null ? undefined : asNamed(source_name ?? source)}>
          {source === null ? 'none' : (source_name ?? source)}
        </option>
        {groups.map(([heading, teachers]) => (
          <optgroup key={heading} label={heading}>
            {teachers.map(({ id: own, label }) => (
              <option key={own} value={own} translate={asNamed(label)}>
                {label}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <p id={helpId} className="soft help" role="status">
        {doing ??
          (source === null
            ? 'A kept state of a run, or a model. It needs the vocabulary of the task.'
            : `${num_hidden_layers} layers of ${hidden_size} channels.${memoryWords(bytes)} Its sizes are under Teacher.`)}
      </p>
      <button type="button" onClick={() => showDialog('model')}>
        Open another model …
      </button>
    </div>
  )
}
