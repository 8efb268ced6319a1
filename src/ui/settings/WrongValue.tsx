// Says what is wrong with a value that was typed, and offers the ways out.
import { experimentFields } from '../../document/experiment/form/form.ts'
import { labStore } from '../../page/state/store.ts'
import type { WrongField } from '../../record/run/run_parts.ts'
import { showSetting } from '../open/wanted.ts'
import { labelled } from '../shown/names/labelled.ts'
import { randomStart } from './field/random_start.ts'
import { type FieldData, spoken, typedValue } from './form.ts'

/** Another setting whose rule a value breaks: a refusal begins with its path. */
const ruledBy = ({ problem, path }: WrongField, fields: readonly FieldData[]) =>
  fields.find(
    (field) => field.path !== path && field.hasEffect && problem.startsWith(`${field.path}: `),
  )

export function WrongValue(props: {
  readonly field: FieldData
  readonly wrong: WrongField
  /** Back to the value from before. */
  readonly onKeep: () => void
}) {
  const { field, wrong, onKeep } = props
  const fields = experimentFields(labStore.getState().experiment)
  const other = ruledBy(wrong, fields)
  const held = wrong.before?.said ?? spoken(field)
  const begin = randomStart(field.path, typedValue(field, wrong.text))
  return (
    <p className="problem" role="alert">
      {labelled(wrong.problem, fields)}
      <button type="button" className="plain" onClick={onKeep}>
        {held === 'none' ? 'keep none' : `keep ${held}`}
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
