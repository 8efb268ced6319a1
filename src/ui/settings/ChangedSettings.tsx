// Draws the one list of what differs from the preset: each setting with its value and the preset's,
// the way to it, and the way back, alone or for all.
import { RotateCcw } from 'lucide-react'
import type { Preset } from '../../document/presets/presets.ts'
import { editField } from '../../page/client/edits.ts'
import { choosePreset } from '../../page/client/opening.ts'
import { labStore } from '../../page/state/store.ts'
import { showSetting } from '../open/wanted.ts'
import { formName } from '../shown/names/labelled.ts'
import { withEstimatorsOf } from './Algorithm.tsx'
import { OverRun } from './field/OverRun.tsx'
import {
  algorithmOf,
  changedFields,
  type FieldData,
  type Part,
  type Values,
  valueWords,
} from './form.ts'

interface RowProps {
  readonly field: FieldData
  /** The preset's value; undefined where the preset has no such field, or no own one. */
  readonly before: FieldData['value'] | undefined
  readonly name?: string
  readonly onBack?: () => void
}

function Row(props: RowProps) {
  const { field, before } = props
  const { path, unit } = field
  const { name = formName(field) } = props
  const { onBack = () => editField(path, before === field.default ? undefined : before) } = props
  const withUnit = (value: FieldData['value']) =>
    `${valueWords({ ...field, value })}${typeof value === 'number' && unit ? ` ${unit}` : ''}`
  return (
    <li data-testid="changed-setting" data-path={path}>
      <button type="button" className="plain changed-name" onClick={() => showSetting(path)}>
        {name}
      </button>
      <span>
        <b>{withUnit(field.value)}</b>{' '}
        <small className="soft">
          {before === undefined ? 'as all phases in the preset' : `preset: ${withUnit(before)}`}
        </small>
      </span>
      <button
        type="button"
        className="plain"
        aria-label={`Put ${name} back`}
        title={`Put ${name} alone back`}
        onClick={onBack}
      >
        <RotateCcw className="icon" aria-hidden="true" />
      </button>
      <OverRun id={`changed-${path}`} path={path} />
    </li>
  )
}

const PART_SAYS: Readonly<Record<Part, string>> = {
  phases: 'The phases are not those of the preset.',
  reward: 'The reward is not that of the preset.',
  tools: 'The tools are not those of the preset.',
}

export function ChangedSettings(props: {
  readonly fields: readonly FieldData[]
  readonly original: Values
  readonly preset: Preset
  readonly parts: readonly Part[]
}) {
  const { fields, original, preset, parts } = props
  const changed = changedFields(fields, original)
  const [algorithm, ...others] = algorithmOf(fields, original)
  const putBack = () =>
    editField('phases', withEstimatorsOf(labStore.getState().experiment, original))
  return (
    <section
      id="changed-settings"
      className="changed-settings"
      aria-label="Changed settings"
      data-testid="changed-settings"
    >
      <h3>Changed from “{preset.name}”</h3>
      <ul>
        {changed
          .filter((field) => !others.includes(field))
          .map((field) => (
            <Row
              key={field.path}
              field={field}
              before={original.get(field.path)}
              {...(field === algorithm && { name: 'Algorithm', onBack: putBack })}
            />
          ))}
        {parts.map((part) => (
          <li key={part}>{PART_SAYS[part]}</li>
        ))}
      </ul>
      <button
        type="button"
        id="reset-settings"
        data-testid="reset-settings"
        onClick={() => choosePreset(preset.id)}
      >
        <RotateCcw className="icon" aria-hidden="true" /> Put all back to the preset
      </button>
    </section>
  )
}
