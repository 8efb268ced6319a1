// Gives deleted runs back.
import { useStore } from 'zustand'
import { type Library, libraryStore } from '../../page/runs/library/library_store.ts'
import { later } from '../part/later.tsx'

const selectDeleted = ({ justDeleted }: Library) => justDeleted
const Note = later('What was deleted', async () => (await import('./DeletedNote.tsx')).DeletedNote)

/** The region stays, so that screen readers hear it change. */
export function Deleted() {
  const deleted = useStore(libraryStore, selectDeleted)
  const isShown = deleted.length > 0
  return (
    <div className="toast undo-toast" role="status" data-testid="deleted" data-shown={isShown}>
      {isShown ? <Note deleted={deleted} /> : null}
    </div>
  )
}
