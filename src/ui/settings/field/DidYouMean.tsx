// Offers the words of settings that a search that found nothing is nearest to.
import { useMemo } from 'react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { t } from '../../kit/translator.ts'
import { nearQueries } from './near_names.ts'

interface DidYouMeanProps {
  readonly query: string
  readonly experiment: Experiment
  /** Whether a search finds a setting. */
  readonly isFound: (query: string, field: Field) => boolean
  /** Searches for another. */
  readonly onQuery: (query: string) => void
}

/** Nothing where no word is near. */
export function DidYouMean({ query, experiment, isFound, onQuery }: DidYouMeanProps) {
  const queries = useMemo(() => {
    const fields = experimentFields(experiment)
    const texts = fields.map(({ label, path, help }) =>
      [label, t(label), path, help, t(help)].join(' '),
    )
    return nearQueries(query, texts).filter((near) => fields.some((field) => isFound(near, field)))
  }, [query, experiment, isFound])
  if (queries.length === 0) return null
  return (
    <div role="group" aria-labelledby="did-you-mean" data-testid="did-you-mean">
      <p id="did-you-mean" className="soft found-told">
        Nothing is called so. Did you mean:
      </p>
      <div className="near-queries" translate="no">
        {queries.map((near) => (
          <button key={near} type="button" onClick={() => onQuery(near)}>
            {near}
          </button>
        ))}
      </div>
    </div>
  )
}
