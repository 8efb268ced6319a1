// Gives deleted runs back.
import { Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { type Library, libraryStore, runOf } from '../../page/runs/library/library_store.ts'
import { calledName } from '../shown/names/called.ts'

/** What deleted them is there already; nobody waits. */
const undo = () =>
  void import('../../page/runs/library/library.ts').then(({ undoDelete }) =>
    undoDelete(libraryStore.getState().justDeleted),
  )
const selectDeleted = ({ justDeleted }: Library) => justDeleted

/** A record that cannot be read has no name. */
function saidOf(deleted: readonly string[]): string {
  const entry = runOf(deleted[0])
  if (deleted.length > 1) return `${deleted.length} runs deleted.`
  return entry ? `“${calledName(entry)}” deleted.` : 'Run deleted.'
}

/** The region stays, so that screen readers hear it change. */
export function Deleted() {
  const deleted = useStore(libraryStore, selectDeleted)
  return (
    <div
      className="toast undo-toast"
      role="status"
      data-testid="deleted"
      data-shown={deleted.length > 0}
    >
      {deleted.length > 0 ? (
        <>
          <span>{saidOf(deleted)}</span>
          <button type="button" data-testid="undo-delete" onClick={undo}>
            <Undo2 className="icon" aria-hidden="true" /> Undo
          </button>
        </>
      ) : null}
    </div>
  )
}
