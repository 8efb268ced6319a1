// Draws one number of the settings of writing, and tells what it does not take.
import { useState } from 'react'

interface NumberFieldProps {
  readonly name: string
  readonly label: string
  readonly min: number
  readonly max: number
  readonly step: number
  readonly value: number
  /** The number that holds now; with it why that is not the one that is typed. */
  readonly onChange: (value: number, why: string | undefined) => void
}

/** Why a typed number is not taken; undefined where it is. */
export const whyNotTaken = (
  value: number,
  { min, max }: Pick<NumberFieldProps, 'min' | 'max'>,
): string | undefined =>
  value >= min && value <= max ? undefined : `expected a number from ${min} to ${max}`

export function NumberField(props: NumberFieldProps) {
  const { name, label, min, max, step, value, onChange } = props
  // What is typed, and the number before: of what is not taken whole, no beginning is either.
  const [typed, setTyped] = useState<{ readonly text: string; readonly before: number }>()
  const isTaken = typed === undefined || whyNotTaken(numberOf(typed.text), props) === undefined
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        {...{ min, max, step }}
        data-testid={`chat-${name}`}
        aria-invalid={!isTaken}
        value={typed?.text ?? value}
        // The value that holds comes back, and why stays to be read.
        onBlur={() => setTyped(undefined)}
        onChange={({ target }) => {
          const before = typed?.before ?? value
          const why = whyNotTaken(numberOf(target.value), props)
          setTyped({ text: target.value, before })
          onChange(why === undefined ? numberOf(target.value) : before, why)
        }}
      />
    </label>
  )
}

const numberOf = (typed: string): number => (typed === '' ? Number.NaN : Number(typed))
