// Lists the studies that were deleted on this visit, to be brought back until the page is left.
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import { studyStore } from '../../../page/study/study_state.ts'
import { commitDeleteStudies, undoDeleteStudy } from '../../../page/study/study_store.ts'

/** Nothing where none was deleted. */
export function DeletedStudies() {
  const { deleted } = useStore(studyStore)
  const [isOpen, setOpen] = useState(false)
  if (deleted.length === 0) return null
  return (
    <details
      className="study-deleted"
      data-testid="studies-deleted"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {deleted.length === 1 ? '1 study deleted' : `${deleted.length} studies deleted`}
      </summary>
      <p className="soft">What is listed here goes for good when this page is closed.</p>
      <ul>
        {deleted.map(({ id, study: { name } }) => (
          <li key={id}>
            <span>{name}</span>
            <button
              type="button"
              data-testid="study-bring-back"
              aria-label={`Bring “${name}” back`}
              onClick={() => undoDeleteStudy(id)}
            >
              <Undo2 className="icon" aria-hidden="true" /> Bring back
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        data-testid="study-delete-now"
        onClick={() => void commitDeleteStudies()}
      >
        Delete them now
      </button>
    </details>
  )
}
