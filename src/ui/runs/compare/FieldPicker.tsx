// Finds a field by its name, its path or plain words, as the search of the settings does; names
// come
// before paths.
import { useState } from 'react'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { isFound, isNamed } from '../../settings/settings_search.ts'

interface FieldPickerProps {
  readonly id: string
  readonly fields: readonly Field[]
  readonly chosen: Field | undefined
  /** The choice of no field; without it one is always chosen. */
  readonly none?: string
  readonly onField: (path: string) => void
}

const isOfPhase = ({ path }: Field) => path.startsWith('phases.')

export function FieldPicker({ id, fields, chosen, none, onField }: FieldPickerProps) {
  const [query, setQuery] = useState('')
  const found = query.trim() === '' ? fields : fields.filter((own) => isFound(query, own))
  const search = (text: string) => {
    setQuery(text)
    // What all phases share comes before what one phase says for itself.
    const all = fields
      .filter((own) => isFound(text, own))
      .toSorted((a, b) => Number(isOfPhase(a)) - Number(isOfPhase(b)))
    const best = all.find((own) => isNamed(text, own)) ?? all[0]
    if (text.trim() !== '' && best) onField(best.path)
  }
  return (
    <>
      <input
        type="text"
        className="duel-search"
        aria-label="Search fields"
        data-testid={`${id}-search`}
        placeholder="Search, such as learning rate"
        value={query}
        onChange={({ target }) => search(target.value)}
      />
      <select
        aria-label="Field"
        data-testid={`${id}-field`}
        title={chosen?.path}
        value={chosen?.path ?? ''}
        onChange={({ target }) => onField(target.value)}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {(chosen && !found.includes(chosen) ? [chosen, ...found] : found).map((own) => (
          <option key={own.path} value={own.path}>
            {own.group}: {own.label}
          </option>
        ))}
      </select>
    </>
  )
}
