// Shows, below a setting, what it was over the run.
import { useCallback } from 'react'
import type { LabState } from '../../../page/state/store.ts'
import { useLab } from '../../shown/run.ts'
import { overRunWords } from './over_run.ts'

/** The values of a setting that a person changed while the run went on; nothing for any other. */
export function OverRun({ id, path }: { readonly id: string; readonly path: string }) {
  const words = useLab(useCallback((state: LabState) => overRunWords(state, path), [path]))
  return words === '' ? null : (
    <p className="over-run" data-testid={`${id}-over-run`}>
      {words}
    </p>
  )
}
