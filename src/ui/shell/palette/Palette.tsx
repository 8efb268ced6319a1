// Draws every command by name: a search field over a list (WAI-ARIA authoring practices, combobox
// with listbox).
import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { labStore } from '../../../page/state/store.ts'
import type { Marks } from '../../kit/fuzzy.ts'
import { Marked } from '../../kit/Marked.tsx'
import { Modal } from '../../part/Modal.tsx'
import { selectStatus, useLab } from '../../shown/run.ts'
import { type Entry, foundEntries, paletteEntries } from './entries.ts'
import { Keys } from './keys/Keys.tsx'

/** More than this nobody reads: another letter is quicker. */
const MAX_SHOWN = 40
const PAGE = 8

interface Line {
  readonly entry: Entry
  readonly marks: Marks
}

/** What a query shows: best first; without one, all commands in their groups. */
function linesOf(query: string): readonly Line[] {
  const entries = paletteEntries(labStore.getState(), query.trim() !== '')
  return foundEntries(query, entries)
    .map(({ item, match }) => ({ entry: item, marks: match.marks }))
    .slice(0, query.trim() === '' ? undefined : MAX_SHOWN)
}

/** Where a key moves to among `count` lines; undefined for other keys. */
function moved(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at + count - 1) % count
  if (key === 'PageDown') return Math.min(count - 1, at + PAGE)
  if (key === 'PageUp') return Math.max(0, at - PAGE)
  return undefined
}

const optionId = (index: number) => `palette-option-${index}`

/** Closes the dialog, so that focus is back where it was, then acts. */
function act(element: Element, entry: Entry): void {
  element.closest('dialog')?.close()
  entry.run()
}

export function Palette() {
  return (
    <Modal name="palette" label="Commands">
      <Body />
    </Modal>
  )
}

function SearchField(props: {
  readonly query: string
  /** Of the option that Enter would take; undefined where nothing was found. */
  readonly activeId: string | undefined
  readonly onQuery: (query: string) => void
  readonly onKeyDown: (event: KeyboardEvent<HTMLInputElement>) => void
}) {
  const { query, activeId, onQuery, onKeyDown } = props
  return (
    <label className="palette-search">
      <Search className="icon" aria-hidden="true" />
      <span className="visually-hidden">Command, experiment or setting</span>
      <input
        type="text"
        role="combobox"
        data-testid="palette-input"
        placeholder="Command or setting"
        autoComplete="off"
        spellCheck={false}
        aria-expanded={activeId !== undefined}
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={activeId}
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">Esc</kbd>
    </label>
  )
}

function Body() {
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const status = useLab(selectStatus)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what can be done depends on the status.
  const lines = useMemo(() => linesOf(query), [query, status])
  const list = useRef<HTMLDivElement>(null)
  const active = Math.min(at, lines.length - 1)
  useEffect(() => {
    list.current?.querySelector(`#${optionId(active)}`)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing || lines.length === 0) return
    const to = moved(event.key, active, lines.length)
    if (to !== undefined) setAt(to)
    else if (event.key === 'Enter') act(event.currentTarget, lines[active].entry)
    else return
    event.preventDefault()
  }
  return (
    <>
      <SearchField
        query={query}
        activeId={lines.length > 0 ? optionId(active) : undefined}
        onQuery={(text) => {
          setQuery(text)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <p className="visually-hidden" role="status">
        {query === '' ? '' : `${lines.length} found`}
      </p>
      <div
        id="palette-list"
        ref={list}
        role="listbox"
        aria-label="Commands"
        data-testid="palette-list"
      >
        {lines.map(({ entry, marks }, i) => (
          <Option
            key={entry.id}
            entry={entry}
            marks={marks}
            index={i}
            isActive={i === active}
            heading={query === '' && entry.group !== lines[i - 1]?.entry.group}
            hasGroup={query !== ''}
          />
        ))}
      </div>
      {lines.length === 0 ? <p className="soft palette-none">Nothing has that name.</p> : null}
    </>
  )
}

interface OptionProps extends Line {
  readonly index: number
  readonly isActive: boolean
  /** The first of its group. */
  readonly heading: boolean
  readonly hasGroup: boolean
}

function Option({ entry, marks, index, isActive, heading, hasGroup }: OptionProps) {
  return (
    <>
      {heading ? (
        <div className="palette-group soft" role="presentation">
          {entry.group}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the search field keeps the focus and takes the keys. */}
      <div
        id={optionId(index)}
        role="option"
        tabIndex={-1}
        aria-selected={isActive}
        className="palette-option"
        data-command={entry.id}
        onClick={(event) => act(event.currentTarget, entry)}
      >
        <span className="palette-name">
          <Marked text={entry.name} marks={marks} />
        </span>
        {hasGroup ? <span className="soft palette-where">{entry.group}</span> : null}
        {entry.keys === undefined ? null : <Keys keys={entry.keys} />}
      </div>
    </>
  )
}
