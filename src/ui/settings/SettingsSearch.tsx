// Draws the search field over the settings, and what it found.
import { Search, X } from 'lucide-react'
import { Fragment, useMemo, useState } from 'react'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isSteerable } from '../../document/experiment/steering/edit_phases.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { formName } from '../shown/names/labelled.ts'
import { Field } from './Field.tsx'
import { type FieldData, groupFields } from './form.ts'
import {
  findFields,
  foundWords,
  idleWords,
  isFound,
  openIdle,
  sortFound,
} from './settings_search.ts'

/** What a search found nothing for is seldom. */
const DidYouMean = lazyPart(async () => (await import('./field/DidYouMean.tsx')).DidYouMean, {
  name: 'The nearest names',
  fallback: null,
})

const EffectWhen = lazyPart(async () => (await import('./field/EffectWhen.tsx')).EffectWhen, {
  name: 'What gives a setting an effect',
  fallback: null,
})

interface SearchProps {
  readonly query: string
  readonly onQuery: (query: string) => void
}

/** Escape clears it. */
export function SettingsSearch({ query, onQuery }: SearchProps) {
  return (
    <div className="settings-search">
      <Search className="icon" aria-hidden="true" />
      <input
        type="text"
        id="settings-search"
        data-testid="settings-search"
        aria-label="Search the settings"
        placeholder="Search settings"
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          if (query === '') event.currentTarget.blur()
          else onQuery('')
        }}
      />
      {query === '' ? (
        <kbd aria-hidden="true">/</kbd>
      ) : (
        <button
          type="button"
          className="plain"
          aria-label="Clear the search"
          onClick={(event) => {
            onQuery('')
            event.currentTarget.parentElement?.querySelector('input')?.focus()
          }}
        >
          <X className="icon" aria-hidden="true" />
        </button>
      )}
    </div>
  )
}

interface FoundProps {
  readonly query: string
  readonly onQuery: (query: string) => void
  readonly experiment: Experiment
  /** What the preset says, by path. */
  readonly original: ReadonlyMap<string, FieldData['value']>
  /** Index of the phase that runs; undefined while none does. */
  readonly present: number | undefined
}

/** Every field that a query means, under its heading. */
export function FoundSettings(props: FoundProps) {
  const { query, experiment, original, present, onQuery } = props
  const found = useMemo(
    () => experimentFields(experiment).filter((field) => isFound(query, field)),
    [query, experiment],
  )
  const shown = found.filter(({ hasEffect }) => hasEffect)
  const [isOpen, setOpen] = useState(false)
  const idle = found.filter(({ hasEffect }) => !hasEffect)
  const asked = openIdle(query, shown, idle)
  const more = idle.filter((field) => !asked.includes(field))
  const groups = groupFields(shown).length
  const { named, told, inherited } = sortFound(query, shown)
  const section = ([group, fields]: (typeof named)[number]) => (
    <div key={group} role="group" className="found-group" aria-label={group}>
      <h3>{group}</h3>
      {fields.map((field) => (
        <Fragment key={field.path}>
          <Field
            field={field}
            query={query}
            changedFrom={original.get(field.path)}
            isLive={present !== undefined && isSteerable(field, present)}
          />
          {field.hasEffect ? null : (
            <EffectWhen experiment={experiment} path={field.path} nameOf={formName} />
          )}
        </Fragment>
      ))}
    </div>
  )
  return (
    <>
      <p className="soft found-count" role="status" data-testid="found-count">
        {foundWords(shown.length, groups, idle.length)}
      </p>
      <DidYouMean {...{ query, found, experiment, find: findFields, onQuery }} />
      {found.length > 0 ? null : (
        <button type="button" data-testid="clear-search" onClick={() => onQuery('')}>
          Clear the search
        </button>
      )}
      {asked.length > 0 && shown.length > 0 ? (
        <p className="soft found-told">Without effect as the settings are</p>
      ) : null}
      {groupFields(asked).map(section)}
      {asked.length > 0 && shown.length > 0 ? <p className="soft found-told">In force</p> : null}
      {named.map(section)}
      {told.length > 0 ? <p className="soft found-told">Only in the explanation</p> : null}
      {told.map(section)}
      {inherited.length > 0 ? (
        <p className="soft found-told">Taken from the settings above, unless a phase has its own</p>
      ) : null}
      {inherited.map(section)}
      {more.length > 0 ? (
        <details
          className="found-idle"
          data-testid="found-idle"
          onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        >
          <summary>{idleWords(more.length)}</summary>
          {isOpen ? groupFields(more).map(section) : null}
        </details>
      ) : null}
    </>
  )
}
