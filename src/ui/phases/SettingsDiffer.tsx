// Says that the next run is not the one on screen.
import { useStore } from 'zustand'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { selectIsBusy, selectIsEdited, selectLeftOut, useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'
import { selectIsStudy, uiStore } from '../shown/store.ts'

export function SettingsDiffer() {
  const leftOut = useLab(selectLeftOut)
  const isBusy = useLab(selectIsBusy)
  const isPast = useIsPast()
  const isEdited = useLab(selectIsEdited)
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  const isStudy = useStore(uiStore, selectIsStudy)
  if (isBusy || isPast || isStudy || !isEdited) return null
  return (
    <p className="soft" data-testid={leftOut > 0 ? 'steering-left-out' : 'settings-differ'}>
      The settings have changed since the run on screen began:{' '}
      <strong>{trainsStudy ? 'Train beside the study' : 'Train again'}</strong> uses them as they
      are now
      {leftOut > 0
        ? `, without the ${leftOut === 1 ? 'change' : `${leftOut} changes`} made by hand while it ran`
        : ''}
      .
    </p>
  )
}
