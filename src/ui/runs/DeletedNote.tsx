// Names what was deleted, with the way back.
import { Undo2 } from 'lucide-react'
import { undoDelete } from '../../page/runs/library/library.ts'
import { libraryStore, runOf } from '../../page/runs/library/library_store.ts'
import { calledName } from '../shown/names/called.ts'
import { takeLostFocus } from './lost_focus.ts'

const undo = () => void undoDelete(libraryStore.getState().justDeleted)

/** A record that cannot be read has no name. */
function saidOf(deleted: readonly string[]): string {
  const entry = runOf(deleted[0])
  if (deleted.length > 1) return `${deleted.length} runs deleted.`
  return entry ? `“${calledName(entry)}” deleted.` : 'Run deleted.'
}

export function DeletedNote({ deleted }: { readonly deleted: readonly string[] }) {
  return (
    <>
      <span>{saidOf(deleted)}</span>
      <button
        key={deleted.join()}
        ref={takeLostFocus}
        type="button"
        data-testid="undo-delete"
        onClick={undo}
      >
        <Undo2 className="icon" aria-hidden="true" /> Undo
      </button>
    </>
  )
}
