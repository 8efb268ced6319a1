// Offers the names of settings that a search that found nothing is nearest to.
import { useMemo } from 'react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { t } from '../../kit/translator.ts'
import { nearLabels } from './near_names.ts'

interface DidYouMeanProps {
  readonly query: string
  readonly experiment: Experiment
  /** Searches for another. */
  readonly onQuery: (query: string) => void
}

/** Nothing where no name is near. */
export function DidYouMean({ query, experiment, onQuery }: DidYouMeanProps) {
  const labels = useMemo(
    () =>
      nearLabels(
        query,
        experimentFields(experiment).map(({ label, path }) => {
          const said = t(label)
          return { label: said, names: [said, label, path] }
        }),
      ),
    [query, experiment],
  )
  if (labels.length === 0) return null
  return (
    <div role="group" aria-labelledby="did-you-mean" data-testid="did-you-mean">
      <p id="did-you-mean" className="soft found-told">
        Nothing is called so. Did you mean:
      </p>
      {labels.map((label) => (
        <button key={label} type="button" onClick={() => onQuery(label)}>
          {label}
        </button>
      ))}
    </div>
  )
}
