// Says that the next run is not the one on screen.
import { selectIsBusy, selectIsEdited, selectLeftOut, useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'

export function SettingsDiffer() {
  const left_out = useLab(selectLeftOut)
  const is_busy = useLab(selectIsBusy)
  const is_past = useIsPast()
  const is_edited = useLab(selectIsEdited)
  if (is_busy || is_past || !is_edited) return null
  return (
    <p className="soft" data-testid={left_out > 0 ? 'steering-left-out' : 'settings-differ'}>
      The settings have changed since the run on screen began: <strong>Train again</strong> uses
      them as they are now
      {left_out > 0
        ? `, without the ${left_out === 1 ? 'change' : `${left_out} changes`} made by hand while it ran`
        : ''}
      .
    </p>
  )
}
