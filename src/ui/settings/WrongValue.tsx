// Says what is wrong with a value that was typed, and offers the ways out.
import { experimentFields } from '../../document/experiment/form/form.ts'
import { labStore } from '../../page/state/store.ts'
import type { WrongField } from '../../record/run/run_parts.ts'
import { showSetting } from '../open/wanted.ts'
import { randomStart } from './field/random_start.ts'
import { type FieldData, formName, spoken, typedValue } from './form.ts'

/** Another setting whose rule a value breaks: a refusal begins with its name. */
const ruledBy = ({ problem, path }: WrongField): FieldData | undefined =>
  experimentFields(labStore.getState().experiment).find(
    (field) => field.path !== path && field.hasEffect && problem.startsWith(`${formName(field)}: `),
  )

export function WrongValue(props: {
  readonly field: FieldData
  readonly wrong: WrongField
  /** Back to the value that holds. */
  readonly onKeep: () => void
}) {
  const { field, wrong, onKeep } = props
  const other = ruledBy(wrong)
  const begin = randomStart(field.path, typedValue(field, wrong.text))
  return (
    <p className="problem" role="alert">
      {wrong.problem}
      <button type="button" className="plain" onClick={onKeep}>
        {field.value === null ? 'keep none' : `keep ${spoken(field)}`}
      </button>
      {other ? (
        <button type="button" className="plain" onClick={() => showSetting(other.path)}>
          show {other.label}
        </button>
      ) : null}
      {begin ? (
        <button type="button" className="plain" onClick={begin}>
          begin from random weights, with a warm start
        </button>
      ) : null}
    </p>
  )
}
