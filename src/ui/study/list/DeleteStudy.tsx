// Deletes a study once a person has read its name and how many runs go with it.
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import type { Study } from '../../../document/study/study.ts'
import { runsGoing } from '../../../page/study/kept_studies.ts'
import { type StudyState, staying, studyStore } from '../../../page/study/study_state.ts'
import { deleteStudy } from '../../../page/study/study_store.ts'

const countWords = (count: number): string =>
  count === 0
    ? 'It has no trained runs.'
    : `${count === 1 ? 'Its trained run goes' : `Its ${count} trained runs go`} with it.`

interface DeleteStudyProps {
  readonly id: string
  readonly study: Study
}

/** The trained runs that go with a study. */
const countGoing = (state: StudyState, study: Study): number => {
  const others = staying(state).filter((other) => other !== study)
  return runsGoing(study, others, state.results).length
}

export function DeleteStudy({ id, study }: DeleteStudyProps) {
  const [asks, setAsks] = useState(false)
  const state = useStore(studyStore)
  if (!asks)
    return (
      <button
        type="button"
        data-testid="study-delete"
        aria-label={`Delete “${study.name}” …`}
        onClick={() => setAsks(true)}
      >
        <Trash2 className="icon" aria-hidden="true" /> Delete …
      </button>
    )
  return (
    <span className="study-asks" role="group" aria-label="Delete the study?">
      <span role="alert" data-testid="study-asks">
        Delete “{study.name}”? {countWords(countGoing(state, study))}
      </span>
      <button
        type="button"
        data-testid="study-delete-yes"
        // The button that was pressed is gone: the focus stays where it was.
        ref={(button) => button?.focus()}
        onClick={() => void deleteStudy(id)}
      >
        Delete it
      </button>
      <button type="button" data-testid="study-delete-no" onClick={() => setAsks(false)}>
        Keep it
      </button>
    </span>
  )
}
