// Chooses a field in one control: what is typed finds it by its name, its path or plain words
// (WAI-ARIA authoring practices, combobox with listbox).
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { type Field, noSuchField } from '../../../document/experiment/form/form_fields.ts'
import { t } from '../../kit/translator.ts'
import { formName } from '../../shown/names/labelled.ts'
import { offeredFields } from './found_fields.ts'

interface FieldPickerProps {
  readonly id: string
  readonly fields: readonly Field[]
  readonly chosen: Field | undefined
  /** The choice of no field; without it one is always chosen. */
  readonly none?: string
  /** What was typed last, where no field is called so. */
  readonly unknown: string | undefined
  readonly onField: (path: string) => void
  readonly onUnknown: (typed: string) => void
}

const nameOf = (field: Field | undefined) => (field ? t(`${formName(field)} (${field.group})`) : '')

/** The open list: what was typed, and which of the found fields a key would take. */
interface Open {
  /** undefined: nothing yet, and all fields are there. */
  readonly typed?: string
  /** -1: none, until a key or a click chooses one. */
  readonly at: number
}

/** Where a key moves to among `count` options; undefined for other keys. */
function moved(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return at > 0 ? at - 1 : count - 1
  return undefined
}

function usePicker({ fields, chosen, none, onField, onUnknown }: FieldPickerProps) {
  const [open, setOpen] = useState<Open>()
  const { found, isNear } = offeredFields(open?.typed ?? '', fields)
  const show = () =>
    setOpen({ at: Math.max(0, chosen ? fields.findIndex(({ path }) => path === chosen.path) : 0) })
  const take = (field: Field | undefined) => {
    if (field) onField(field.path)
    else if (open?.typed?.trim()) onUnknown(open.typed.trim())
    setOpen(undefined)
  }
  /** What was typed is meant, whether Enter follows or not; an empty field means none, and
   * where one is always chosen, that one. */
  const leave = () => {
    if (open?.typed?.trim() === '') onField(none === undefined ? (chosen?.path ?? '') : '')
    take(open?.typed?.trim() ? found[open.at] : undefined)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    const to = moved(event.key, open?.at ?? 0, found.length)
    if (to !== undefined && !open) show()
    else if (to !== undefined && found.length > 0) setOpen({ ...open, at: to })
    else if (event.key === 'Enter' && open) open.typed === '' ? leave() : take(found[open.at])
    else if (event.key === 'Escape' && open) setOpen(undefined)
    else return
    event.preventDefault()
  }
  return {
    open,
    found,
    isNear,
    show,
    take,
    leave,
    onKeyDown,
    // What was typed with a slip of the hand means none of the near names by itself.
    type: (typed: string) => setOpen({ typed, at: offeredFields(typed, fields).isNear ? -1 : 0 }),
  }
}

export function FieldPicker(props: FieldPickerProps) {
  const { id, fields, chosen, none, unknown, onField } = props
  const { open, found, isNear, show, take, leave, onKeyDown, type } = usePicker(props)
  const list = useId()
  const option = (i: number) => `${list}-${i}`
  const isUnknown = open === undefined && unknown !== undefined
  return (
    <>
      <div className="field-picker">
        <input
          type="text"
          role="combobox"
          aria-label="Field"
          data-testid={`${id}-field`}
          title={chosen?.path}
          placeholder={none ?? 'Search, such as learning rate'}
          autoComplete="off"
          spellCheck={false}
          aria-expanded={open !== undefined}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={open && found[open.at] ? option(open.at) : undefined}
          aria-invalid={isUnknown || undefined}
          aria-describedby={isUnknown ? `${list}-unknown` : undefined}
          value={open?.typed ?? unknown ?? nameOf(chosen)}
          onChange={({ target }) => type(target.value)}
          onClick={({ currentTarget }) => {
            if (open) return
            show()
            currentTarget.select()
          }}
          onKeyDown={onKeyDown}
          onBlur={leave}
        />
        {open ? (
          <Options
            id={list}
            found={found}
            isNear={isNear}
            at={open.at}
            option={option}
            onTake={take}
          />
        ) : null}
      </div>
      {isUnknown ? (
        <Unknown id={`${list}-unknown`} typed={unknown} fields={fields} onField={onField} />
      ) : null}
    </>
  )
}

/** What is wrong with a name that no field has, and the fields that it may mean. */
function Unknown(props: {
  readonly id: string
  readonly typed: string
  readonly fields: readonly Field[]
  readonly onField: (path: string) => void
}) {
  const { id, typed, fields, onField } = props
  const { found: near } = offeredFields(typed, fields)
  return (
    <div className="field-unknown">
      <span className="bad" role="alert" id={id}>
        {noSuchField(typed)}
      </span>
      {near.length > 0 ? <span>Did you mean one of these?</span> : null}
      {near.map((field) => (
        <button
          key={field.path}
          type="button"
          title={field.path}
          onClick={() => onField(field.path)}
        >
          {nameOf(field)}
        </button>
      ))}
    </div>
  )
}

function Options(props: {
  readonly id: string
  readonly found: readonly Field[]
  /** No field is called so; these are near it. */
  readonly isNear: boolean
  readonly at: number
  option(i: number): string
  onTake(field: Field): void
}) {
  const { id, found, isNear, at, option, onTake } = props
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.scrollIntoView({ block: 'nearest' })
    list.current?.querySelectorAll('[role=option]')[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div id={id} ref={list} role="listbox" aria-label="Fields" className="field-options">
      {isNear ? (
        <p className="soft">
          {found.length === 0 ? 'No field has that name.' : 'No field has that name. Near it are:'}
        </p>
      ) : null}
      {found.map((field, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input keeps the focus and takes the keys.
        <div
          key={field.path}
          id={option(i)}
          role="option"
          tabIndex={-1}
          aria-selected={i === at}
          title={field.path}
          className="field-option"
          // Else the input would lose the focus, and the list close, before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(field)}
        >
          <span>{formName(field)}</span> <span className="soft">{field.group}</span>
        </div>
      ))}
    </div>
  )
}
