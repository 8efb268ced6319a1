// Shows, below a setting, what it was over the run.
import { useCallback } from 'react'
import { editField } from '../../../page/client/edits.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import { refusedWords } from '../../shown/names/refused.ts'
import { useLab } from '../../shown/run.ts'
import { showToast } from '../../shown/store.ts'
import { overRunWords } from './over_run.ts'

const selectIsPlanned = ({ runDocument }: LabState): boolean => !runDocument

/** Takes the changes that are planned of this setting out of the experiment. */
function leaveOut(path: string): void {
  const { steering } = labStore.getState().experiment
  const rest = steering.filter((done) => !(done.kind === 'set' && done.path === path))
  const problem = editField('steering', rest)
  if (problem !== undefined) showToast(refusedWords(problem))
}

/** The values of a setting that a person changed while the run went on; nothing for any other. */
export function OverRun({ id, path }: { readonly id: string; readonly path: string }) {
  const words = useLab(useCallback((state: LabState) => overRunWords(state, path), [path]))
  const isPlanned = useLab(selectIsPlanned)
  return words === '' ? null : (
    <p className="over-run" data-testid={`${id}-over-run`}>
      {words}{' '}
      {isPlanned ? (
        <button type="button" className="plain" onClick={() => leaveOut(path)}>
          leave it out
        </button>
      ) : null}
    </p>
  )
}
