// Draws one number of the settings of writing; what it does not take is said
// below all of them, where its line is kept free.
import { useEffect, useState } from 'react'

interface NumberFieldProps {
  readonly name: string
  readonly label: string
  readonly min: number
  readonly max: number
  readonly step: number
  readonly value: number
  readonly onChange: (value: number) => void
}

/** Why a typed number is not taken; undefined where it is. */
export const whyNotTaken = (
  value: number,
  { min, max }: Pick<NumberFieldProps, 'min' | 'max'>,
): string | undefined =>
  value >= min && value <= max ? undefined : `expected a number from ${min} to ${max}`

export function NumberField(props: NumberFieldProps) {
  const { name, label, min, max, step, value, onChange } = props
  const [wrong, setWrong] = useState<{ readonly typed: string | undefined; readonly why: string }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another value takes the place of what is typed.
  useEffect(() => setWrong(undefined), [value])
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        {...{ min, max, step }}
        data-testid={`chat-${name}`}
        aria-invalid={wrong?.typed !== undefined}
        value={wrong?.typed ?? value}
        // The value that holds comes back, and why stays to be read.
        onBlur={() => setWrong((now) => now && { ...now, typed: undefined })}
        onChange={({ target }) => {
          const why = whyNotTaken(target.valueAsNumber, props)
          setWrong(why === undefined ? undefined : { typed: target.value, why })
          if (why === undefined) onChange(target.valueAsNumber)
        }}
      />
      {wrong ? (
        <small className="bad" role="alert">
          {label}: {wrong.why}; it stays {value}
        </small>
      ) : null}
    </label>
  )
}
