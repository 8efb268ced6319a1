// Draws the fields that the dialog for data is made of.

export function Choice<T extends string>(props: {
  readonly label: string
  readonly id: string
  readonly value: T
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly onValue: (value: T) => void
}) {
  const { label, id, value, options, onValue } = props
  return (
    <label>
      <span>{label}</span>
      <select data-testid={id} value={value} onChange={({ target }) => onValue(target.value as T)}>
        {options.some(([own]) => own === value) ? null : <option value={value}>choose …</option>}
        {options.map(([own, name]) => (
          <option key={own} value={own} translate={own === name ? 'no' : undefined}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A whole number from 0; null stands for what the placeholder says. */
export function Count(props: {
  readonly label: string
  readonly id: string
  readonly value: number | null
  readonly placeholder?: string
  readonly onValue: (value: number | null) => void
}) {
  const { label, id, value, placeholder = '0', onValue } = props
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={0}
        step={1}
        data-testid={id}
        placeholder={placeholder}
        value={value ?? ''}
        onChange={({ target }) => {
          const given = target.value === '' ? null : Math.trunc(Number(target.value))
          if (given === null || given >= 0) onValue(given)
        }}
      />
    </label>
  )
}

/** A switch with its sentence. */
export function Check(props: {
  readonly label: string
  readonly id: string
  readonly value: boolean
  readonly onValue: (value: boolean) => void
}) {
  const { label, id, value, onValue } = props
  return (
    <label className="data-check">
      <input
        type="checkbox"
        data-testid={id}
        checked={value}
        onChange={({ target }) => onValue(target.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
