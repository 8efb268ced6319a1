// Draws one number of the settings of writing. What is typed counts once the field is left, so that
// the beginning of a number that it does not take changes nothing.
import { useState } from 'react'

interface NumberFieldProps {
  readonly name: string
  readonly label: string
  readonly min: number
  readonly max: number
  readonly step: number
  readonly value: number
  readonly onChange: (value: number) => void
  /** Why what is typed is not taken; undefined where it is. */
  readonly onTyped: (why: string | undefined) => void
}

/** Why a typed number is not taken; undefined where it is. */
export const whyNotTaken = (
  value: number,
  { min, max }: Pick<NumberFieldProps, 'min' | 'max'>,
): string | undefined =>
  value >= min && value <= max ? undefined : `expected a number from ${min} to ${max}`

export function NumberField(props: NumberFieldProps) {
  const { name, label, min, max, step, value, onChange, onTyped } = props
  const [typed, setTyped] = useState<string>()
  const isTaken = typed === undefined || whyNotTaken(numberOf(typed), props) === undefined
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        {...{ min, max, step }}
        data-testid={`chat-${name}`}
        aria-invalid={!isTaken}
        value={typed ?? value}
        // Where it is not taken, the value that holds comes back, and why stays to be read.
        onBlur={() => {
          setTyped(undefined)
          if (typed !== undefined && isTaken) onChange(numberOf(typed))
        }}
        onChange={({ target }) => {
          setTyped(target.value)
          onTyped(whyNotTaken(numberOf(target.value), props))
        }}
      />
    </label>
  )
}

const numberOf = (typed: string): number => (typed === '' ? Number.NaN : Number(typed))
