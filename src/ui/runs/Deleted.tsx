// Gives deleted runs back.
import { Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { type Library, libraryStore } from '../../page/runs/library/library_store.ts'

/** What deleted them is there already; nobody waits. */
const undo = () =>
  void import('../../page/runs/library/library.ts').then(({ undoDelete }) =>
    undoDelete(libraryStore.getState().justDeleted),
  )
const selectDeleted = ({ justDeleted }: Library) => justDeleted.length

/** The region stays, so that screen readers hear it change. */
export function Deleted() {
  const count = useStore(libraryStore, selectDeleted)
  return (
    <div className="toast undo-toast" role="status" data-testid="deleted" data-shown={count > 0}>
      {count > 0 ? (
        <>
          {count === 1 ? 'Run deleted.' : `${count} runs deleted.`}
          <button type="button" data-testid="undo-delete" onClick={undo}>
            <Undo2 className="icon" aria-hidden="true" /> Undo
          </button>
        </>
      ) : null}
    </div>
  )
}
