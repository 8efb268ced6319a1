// Offers the settings that a search that found nothing is nearest to.
import { useMemo } from 'react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { t } from '../../kit/translator.ts'
import { nearFields } from './near_fields.ts'

interface DidYouMeanProps {
  readonly query: string
  readonly experiment: Experiment
  /** The settings that a search finds, the likeliest first. */
  readonly find: (query: string, fields: readonly Field[]) => readonly Field[]
  /** Searches for another. */
  readonly onQuery: (query: string) => void
}

/** Nothing where no name is near. */
export function DidYouMean({ query, experiment, find, onQuery }: DidYouMeanProps) {
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
