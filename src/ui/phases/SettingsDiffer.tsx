// Says that the next run is not the one on screen.
import { Eraser } from 'lucide-react'
import { useStore } from 'zustand'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { clearSteering } from '../../page/client/edits.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { refusedWords } from '../shown/names/refused.ts'
import { selectIsBusy, selectIsEdited, selectLeftOut, useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'
import { selectIsStudy, showToast, uiStore } from '../shown/store.ts'
import { plannedChanges } from './planned/planned_changes.ts'

/** Of the run on screen, where the settings are those of another experiment. */
const selectOther = ({ isBeside, runExperiment }: LabState) =>
  isBeside ? runExperiment?.name || 'unnamed' : undefined

/** What is done to the next run, where it begins as another run did. */
const selectPlanned = ({ runExperiment, experiment }: LabState) =>
  runExperiment ? undefined : experiment.steering

/** What the line of phases, which are those of the start, shows of so many changes. */
function shownWords(changes: readonly SteeringEntry[]): string {
  if (!plannedChanges(changes).movesPhases) return 'The line of phases marks where.'
  return changes.length === 1
    ? 'The line of phases does not show yet what it moves.'
    : 'The line of phases does not show yet what they move.'
}

/** Train repeats what was done by hand: said where the phases are. */
function Planned({ changes }: { readonly changes: readonly SteeringEntry[] }) {
  const leave = () => {
    const problem = clearSteering()
    if (problem !== undefined) showToast(refusedWords(problem))
  }
  return (
    <p className="soft" data-testid="steering-planned">
      <strong>Train</strong>{' '}
      <span>
        {changes.length === 1
          ? 'makes the change by hand again, after the same step.'
          : `makes the ${changes.length} changes by hand again, each after the same step.`}
      </span>{' '}
      <span>{shownWords(changes)}</span>{' '}
      <button type="button" data-testid="clear-steering" onClick={leave}>
        <Eraser className="icon" aria-hidden="true" />{' '}
        {changes.length === 1 ? 'Leave it out' : 'Leave them out'}
      </button>
    </p>
  )
}

export function SettingsDiffer() {
  const other = useLab(selectOther)
  const leftOut = useLab(selectLeftOut)
  const isBusy = useLab(selectIsBusy)
  const isPast = useIsPast()
  const isEdited = useLab(selectIsEdited)
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  const isStudy = useStore(uiStore, selectIsStudy)
  const steering = useLab(selectPlanned)
  if (isBusy || isPast || isStudy) return null
  const planned = doneByHand(steering ?? [])
  if (planned.length > 0) return <Planned changes={planned} />
  if (!isEdited) return null
  const train = <strong>{trainsStudy ? 'Train beside the study' : 'Train again'}</strong>
  if (other !== undefined)
    return (
      <p className="soft" data-testid="settings-differ">
        The run on screen is of “{other}”. Another experiment was chosen since: {train} trains that
        one.
      </p>
    )
  return (
    <p className="soft" data-testid={leftOut > 0 ? 'steering-left-out' : 'settings-differ'}>
      The settings have changed since the run on screen began: {train} uses them as they are now
      {leftOut > 0
        ? ` from its first step, and does not make the ${leftOut === 1 ? 'change' : `${leftOut} changes`} by hand again on the way`
        : ''}
      .
    </p>
  )
}
