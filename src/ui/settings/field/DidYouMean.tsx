// Says what a search names that has no setting here, and offers the settings that one that found
// nothing is nearest to.
import { useMemo } from 'react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { t } from '../../kit/translator.ts'
import { elsewhereWords } from './elsewhere.ts'
import { nearFields } from './near_fields.ts'

interface DidYouMeanProps {
  readonly query: string
  readonly found: readonly Field[]
  readonly experiment: Experiment
  /** The settings that a search finds, the likeliest first. */
  readonly find: (query: string, fields: readonly Field[]) => readonly Field[]
  /** Searches for another. */
  readonly onQuery: (query: string) => void
}

/** Nothing where settings were found, or no name is near. */
export function DidYouMean({ query, found, ...near }: DidYouMeanProps) {
  const elsewhere = elsewhereWords(query)
  if (elsewhere !== undefined)
    return (
      <p className="remark" data-testid="set-elsewhere">
        {elsewhere}
      </p>
    )
  return found.length > 0 ? null : <NearNames query={query} {...near} />
}

function NearNames({ query, experiment, find, onQuery }: Omit<DidYouMeanProps, 'found'>) {
  const names = useMemo(() => {
    const shown = experimentFields(experiment).filter(({ hasEffect }) => hasEffect)
    return new Set(nearFields(query, shown, find).map(({ label }) => label))
  }, [query, experiment, find])
  if (names.size === 0) return null
  return (
    <div role="group" aria-labelledby="did-you-mean" data-testid="did-you-mean">
      <p id="did-you-mean" className="soft found-told">
        Nothing is called so. Did you mean:
      </p>
      <div className="near-queries">
        {[...names].map((name) => (
          <button key={name} type="button" onClick={() => onQuery(t(name))}>
            {name}
          </button>
        ))}
      </div>
    </div>
  )
}
