// Says that the next run is not the one on screen.
import { useStore } from 'zustand'
import type { LabState } from '../../page/state/store.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { selectIsBusy, selectIsEdited, selectLeftOut, useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'
import { selectIsStudy, uiStore } from '../shown/store.ts'

/** Of the run on screen, where the settings are those of another experiment. */
const selectOther = ({ isBeside, runExperiment }: LabState) =>
  isBeside ? runExperiment?.name || 'unnamed' : undefined

export function SettingsDiffer() {
  const other = useLab(selectOther)
  const leftOut = useLab(selectLeftOut)
  const isBusy = useLab(selectIsBusy)
  const isPast = useIsPast()
  const isEdited = useLab(selectIsEdited)
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  const isStudy = useStore(uiStore, selectIsStudy)
  if (isBusy || isPast || isStudy || !isEdited) return null
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
        ? `, without the ${leftOut === 1 ? 'change' : `${leftOut} changes`} made by hand while it ran`
        : ''}
      .
    </p>
  )
}
