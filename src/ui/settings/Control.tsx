// Draws the control of a setting, by what kind of value it holds.
import type { ChangeEvent } from 'react'
import { numberWords } from '../../document/experiment/fields/number_words.ts'
import { formatNumber } from '../kit/format.ts'
import { keyedValue, SLIDER_TICKS, sliderPosition, sliderValue } from './field/slider.ts'
import { Unit } from './field/Unit.tsx'
import type { FieldData } from './form.ts'

const hasSlider = ({ kind, min, max, path }: FieldData) =>
  (kind === 'integer' || kind === 'number') &&
  min !== undefined &&
  max !== undefined &&
  path !== 'seed'

interface ControlProps {
  readonly field: FieldData
  readonly id: string
  readonly helpId: string
  readonly draft: string | undefined
  readonly isInvalid: boolean
  readonly onType: (text: string) => void
  readonly onCommit: (value: FieldData['value']) => void
  /** A slider's value; the sign of `by` is the way that a key went. */
  readonly onSlide: (value: number, by?: number) => void
  readonly onBlur: () => void
}

/** A number as sentences have it, where that says all its digits. */
function textOf(value: FieldData['value']): string {
  const words = typeof value === 'number' ? numberWords(value) : ''
  return words !== '' && Number(words) === value ? words : String(value ?? '')
}

type Shared = Readonly<Record<string, unknown>>

export function Control({ field, id, helpId, draft, isInvalid, ...on }: ControlProps) {
  const shared = {
    id,
    'data-testid': id,
    'aria-describedby': helpId,
    'aria-invalid': isInvalid || undefined,
  }
  const text = {
    value: draft ?? textOf(field.value),
    placeholder: field.none === undefined ? undefined : 'none',
    onChange: (event: ChangeEvent<HTMLInputElement>) => on.onType(event.target.value),
    onBlur: on.onBlur,
  }
  if (field.kind === 'boolean')
    return (
      <input
        {...shared}
        type="checkbox"
        checked={field.value === true}
        onChange={(event) => on.onCommit(event.target.checked)}
      />
    )
  if (field.kind === 'select') return <Select field={field} shared={shared} {...on} />
  if (field.kind === 'text')
    return <input {...shared} {...text} type="text" maxLength={field.max} />
  return (
    <div className="numeric">
      <input
        {...shared}
        {...text}
        type="number"
        min={field.min}
        max={field.max}
        step={field.kind === 'integer' ? field.step : 'any'}
      />
      <Unit of={field.unit} />
      {hasSlider(field) ? (
        <Slider field={field} value={shownNumber(field, draft)} onSlide={on.onSlide} />
      ) : null}
    </div>
  )
}

/** What the number beside a slider says, right or wrong; the value that holds while that is no
 * number. */
export function shownNumber(field: FieldData, draft: string | undefined): number | null {
  const typed = draft?.trim() ? Number(draft) : Number.NaN
  return Number.isFinite(typed) ? typed : (field.value as number | null)
}

type Committing = Pick<ControlProps, 'field' | 'onCommit'>

function Select({ field, shared, onCommit }: Committing & { readonly shared: Shared }) {
  return (
    <select
      {...shared}
      value={String(field.value)}
      onChange={(event) => {
        const option = field.options?.find((o) => String(o.value) === event.target.value)
        if (option) onCommit(option.value)
      }}
    >
      {field.options?.map((option) => (
        <option key={String(option.value)} value={String(option.value)}>
          {option.label}
        </option>
      ))}
    </select>
  )
}

function Slider(
  props: Pick<ControlProps, 'field' | 'onSlide'> & { readonly value: number | null },
) {
  const { field, onSlide } = props
  const value = Number(props.value)
  return (
    <input
      type="range"
      min={0}
      max={SLIDER_TICKS}
      step="any"
      aria-label={`${field.label}, slider`}
      aria-valuetext={props.value === null ? 'none' : `${formatNumber(value)} ${field.unit}`}
      value={sliderPosition(field, value)}
      onChange={(event) => onSlide(sliderValue(field, Number(event.target.value)))}
      onKeyDown={(event) => {
        // The browser's own step may be less than one of the value, which would then never change.
        const next = keyedValue(field, value, event.key)
        if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        onSlide(next, next - value)
      }}
    />
  )
}
