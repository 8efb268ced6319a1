// Draws the settings of one part from its declaration.
import { useId } from 'react'
import type { ParamValue, PartChoice, RewardParam } from '../../../page/trials/reward_trial.ts'
import { Words } from '../../glossary/Words.tsx'

interface SettingProps {
  readonly param: RewardParam
  readonly value: ParamValue
  readonly id: string
  onSet(value: ParamValue): void
}

function Setting({ param, value, id, onSet }: SettingProps) {
  if (param.kind === 'boolean')
    return (
      <input
        id={id}
        type="checkbox"
        checked={value === true}
        onChange={({ target }) => onSet(target.checked)}
      />
    )
  if (param.kind === 'select')
    return (
      <select id={id} value={`${value}`} onChange={({ target }) => onSet(target.value)}>
        {param.options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    )
  if (param.kind === 'text')
    return (
      <textarea
        id={id}
        rows={2}
        spellCheck={false}
        maxLength={param.max}
        defaultValue={`${value}`}
        onChange={({ target }) => onSet(target.value)}
      />
    )
  const { min, max, step, unit } = param
  return (
    <span>
      <input
        id={id}
        type="number"
        {...{ min, max, step }}
        defaultValue={Number(value)}
        onChange={({ target }) => {
          if (Number.isFinite(target.valueAsNumber)) onSet(target.valueAsNumber)
        }}
      />{' '}
      <span className="soft">{unit}</span>
    </span>
  )
}

/** `place` tells the parts apart. */
export function PartSettings(props: {
  readonly kind: { readonly params: readonly RewardParam[] }
  readonly part: PartChoice
  readonly place: number
  onChange(part: PartChoice): void
}) {
  const { kind, part, place, onChange } = props
  const own = useId()
  return kind.params.map((param) => {
    const id = `${own}-${param.name}`
    return (
      <div className="field" key={param.name} data-testid={`reward-${place}-${param.name}`}>
        <label htmlFor={id}>{param.label}</label>
        <Setting
          {...{ param, id }}
          value={part[param.name] ?? param.default}
          onSet={(value) => onChange({ ...part, [param.name]: value })}
        />
        <p className="soft help">
          <Words text={param.help} />
        </p>
      </div>
    )
  })
}
