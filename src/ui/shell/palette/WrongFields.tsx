// Says why Train is off: the fields that do not take what was typed, and the way to each, where
// the reason stands.
import { wrongFields } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import { showSetting } from '../../open/wanted.ts'
import { selectIsBusy, useLab } from '../../shown/run.ts'

const selectWrong = (state: LabState) => wrongFields(state)

export function WrongFields() {
  const wrong = useLab(selectWrong)
  const isBusy = useLab(selectIsBusy)
  return (
    <>
      {isBusy ? 'The run has the values from before: ' : 'Train is off: '}
      {wrong.map(({ path, label, text }, i) => (
        <span key={path}>
          {i > 0 ? '; ' : ''}
          <button type="button" className="plain" onClick={() => showSetting(path)}>
            {label}
          </button>{' '}
          {text.trim() === '' ? 'is empty' : `cannot be ${text}`}
        </span>
      ))}
      .
    </>
  )
}
