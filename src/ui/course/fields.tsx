// Draws the fields of the form in which a course is made.
import { type ReactNode, useId } from 'react'

interface TextProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly testId?: string
  /** Lines of a larger field. */
  readonly rows?: number
}

export function TextField({ label, value, onValue, testId, rows }: TextProps) {
  const id = useId()
  const common = { id, 'data-testid': testId, value }
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...common} type="text" onChange={({ target }) => onValue(target.value)} />
      ) : (
        <textarea {...common} rows={rows} onChange={({ target }) => onValue(target.value)} />
      )}
    </div>
  )
}

interface CheckProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly testId?: string
  readonly children: ReactNode
}

export function CheckField({ checked, onChange, testId, children }: CheckProps) {
  return (
    <label className="course-check">
      <input
        type="checkbox"
        data-testid={testId}
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{children}</span>
    </label>
  )
}
