// Shows what a run's programs printed; loaded once there is something.
import { useStore } from 'zustand'
import { programStore } from '../../../page/contents/programs.ts'
import type { LabState } from '../../../page/state/store.ts'
import { useLab } from '../../shown/run.ts'

const selectRemarks = ({ rewardRemarks }: LabState) => rewardRemarks

/** What the programs of the run printed, how many of their calls failed, and the first reason. */
export function ProgramWords() {
  const programs = useStore(programStore)
  const remarks = useLab(selectRemarks)
  return (
    <div data-testid="program-words">
      {remarks.map((remark) => (
        <p key={remark} className="problem">
          {remark}
        </p>
      ))}
      {programs.map(({ name, function: own, calls, errors, timeouts, first_error, printed }) => (
        <div key={`${name} ${own}`}>
          {first_error === undefined ? null : (
            <p className="problem">
              {name}: {errors + timeouts} of {calls} calls failed. The first: {first_error}
            </p>
          )}
          {printed === undefined ? null : (
            <details>
              <summary>What {name} printed</summary>
              <pre>{printed}</pre>
            </details>
          )}
        </div>
      ))}
    </div>
  )
}
