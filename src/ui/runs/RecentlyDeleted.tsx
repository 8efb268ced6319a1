// Lists what was deleted on this visit, to be brought back until the page is left.
import { Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { commitDelete, undoDelete } from '../../page/runs/library/library.ts'
import { type Library, libraryStore, runOf } from '../../page/runs/library/library_store.ts'
import { runName } from '../../record/run/names.ts'

const selectDeleted = ({ deleted }: Library) => deleted

function Run({ id }: { readonly id: string }) {
  const entry = runOf(id)
  const name = entry ? runName(entry).name : 'A record that cannot be read'
  return (
    <li>
      <span>{name}</span>
      <button
        type="button"
        data-testid="bring-back"
        aria-label={`Bring “${name}” back`}
        onClick={() => undoDelete([id])}
      >
        <Undo2 className="icon" aria-hidden="true" /> Bring back
      </button>
    </li>
  )
}

/** Whether somebody opened the list, which is there until the page is left, whichever tab is seen
 * meanwhile. */
export const listStore = createStore(() => ({ isOpen: false }))

/** Nothing where nothing was deleted. */
export function RecentlyDeleted() {
  const deleted = useStore(libraryStore, selectDeleted)
  const { isOpen } = useStore(listStore)
  if (deleted.length === 0) return null
  return (
    <details
      className="runs-deleted"
      data-testid="recently-deleted"
      open={isOpen}
      onToggle={({ currentTarget }) => listStore.setState({ isOpen: currentTarget.open })}
    >
      <summary>{deleted.length === 1 ? '1 run deleted' : `${deleted.length} runs deleted`}</summary>
      <p className="soft">What is listed here goes for good when this page is closed.</p>
      <ul>
        {deleted.map((id) => (
          <Run key={id} id={id} />
        ))}
      </ul>
      <button type="button" data-testid="delete-now" onClick={() => void commitDelete()}>
        Delete them now
      </button>
    </details>
  )
}
