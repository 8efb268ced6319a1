// Says what was deleted or taken out last, and brings it back.
import { Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { type StudyState, studyStore } from '../../page/study/study_state.ts'
import { undoDeleteStudy, undoTakeOut } from '../../page/study/study_store.ts'

function Undo({ id, onUndo }: { readonly id: string; readonly onUndo: () => void }) {
  return (
    <button type="button" data-testid={id} onClick={onUndo}>
      <Undo2 className="icon" aria-hidden="true" /> Undo
    </button>
  )
}

function Said({ justDeleted, without }: Pick<StudyState, 'justDeleted' | 'without'>) {
  if (without)
    return (
      <>
        “{without.arm}” taken out of the study.
        <Undo id="study-undo-take-out" onUndo={undoTakeOut} />
      </>
    )
  if (justDeleted)
    return (
      <>
        “{justDeleted.study.name}” deleted.
        <Undo id="study-undo-delete" onUndo={() => undoDeleteStudy(justDeleted.id)} />
      </>
    )
  return null
}

/** The region stays, so that screen readers hear it change. */
export function UndoToast() {
  const { justDeleted, without } = useStore(studyStore)
  return (
    <div
      className="toast undo-toast"
      role="status"
      data-testid="study-deleted"
      data-shown={justDeleted !== undefined || without !== undefined}
    >
      <Said justDeleted={justDeleted} without={without} />
    </div>
  )
}
