// Says why Train is off: the fields that do not take what was typed, and the way to each, where
// the reason stands.
import { X } from 'lucide-react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { takeBack, wrongFields } from '../../../page/client/edits.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import { showSetting } from '../../open/wanted.ts'
import { selectIsBusy, useLab } from '../../shown/run.ts'

const selectWrong = (state: LabState) => wrongFields(state)

type Wrong = ReturnType<typeof wrongFields>[number]

const Name = ({ path, label }: Wrong) => (
  <button type="button" className="plain" onClick={() => showSetting(path)}>
    {label}
  </button>
)

/** Takes back what was typed: the values that hold are shown again. */
function Keep({ wrong }: { readonly wrong: readonly Wrong[] }) {
  const label = wrong.length === 1 ? 'Keep the value from before' : 'Keep the values from before'
  const keep = () => {
    for (const field of wrong) takeBack(field)
  }
  return (
    <button
      type="button"
      className="plain wrong-keep"
      data-testid="keep-values"
      aria-label={label}
      title={label}
      onClick={keep}
    >
      <X className="icon" aria-hidden="true" />
    </button>
  )
}

const isEmpty = ({ text }: Wrong) => text.trim() === ''

/** What was typed, or the name of what was chosen. */
function Typed({ wrong: { path, text } }: { readonly wrong: Wrong }) {
  const field = experimentFields(labStore.getState().experiment).find((own) => own.path === path)
  const chosen = field?.options?.find(({ value }) => `${value}` === text)
  if (chosen) return <span>{chosen.label}</span>
  return <span translate="no">{text.replace(/^-(?=[.\d])/, '−')}</span>
}

function OfRun({ wrong }: { readonly wrong: Wrong }) {
  if (isEmpty(wrong))
    return (
      <>
        The run has the values from before: <Name {...wrong} /> is empty.
      </>
    )
  return (
    <>
      The run has the values from before: <Name {...wrong} /> cannot be <Typed wrong={wrong} />.
    </>
  )
}

function OfTrain({ wrong }: { readonly wrong: Wrong }) {
  if (isEmpty(wrong))
    return (
      <>
        Train is off: <Name {...wrong} /> is empty.
      </>
    )
  return (
    <>
      Train is off: <Name {...wrong} /> cannot be <Typed wrong={wrong} />.
    </>
  )
}

/** Several have room for their names alone: what is wrong stands at each. */
export function WrongFields() {
  const wrong = useLab(selectWrong)
  const isBusy = useLab(selectIsBusy)
  const [first, ...others] = wrong
  if (others.length > 0)
    return (
      <>
        <Keep wrong={wrong} />
        {`${wrong.length} settings are wrong: `}
        {wrong.map((field, i) => (
          <span key={field.path}>
            {i > 0 ? ', ' : ''}
            <Name {...field} />
          </span>
        ))}
        .
      </>
    )
  return (
    <>
      <Keep wrong={wrong} />
      {isBusy ? <OfRun wrong={first} /> : <OfTrain wrong={first} />}
    </>
  )
}
