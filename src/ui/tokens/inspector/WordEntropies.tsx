// Draws the entropies of a story's tokens by kind of word, beside those of the first traced step.
import { useMemo } from 'react'
import type { TracedSample } from '../../../host/protocol/results.ts'
import { wordEntropies } from '../../../host/protocol/word_entropies.ts'
import { formatCount, formatNumber } from '../../kit/format.ts'
import { useKept } from '../../shown/rested.ts'

const text = (mean: number | undefined) => (mean === undefined ? '–' : formatNumber(mean))

/** Of the responses of a traced step of stories. */
export function WordEntropies({
  step,
  samples,
}: {
  readonly step: number
  readonly samples: readonly TracedSample[]
}) {
  const [first] = useKept().traces.items
  const earlier = first && first.step < step ? first : undefined
  const now = useMemo(() => wordEntropies(samples), [samples])
  const then = useMemo(() => earlier && wordEntropies(earlier.item.samples), [earlier])
  if (now.every(({ tokens }) => tokens === 0)) return null
  return (
    <details className="word-entropies" data-testid="word-entropies">
      <summary>Entropy by kind of word</summary>
      <table className="samples-table">
        <caption className="soft">
          Mean over the tokens of this step, in nats: high where the policy is unsure what comes.
        </caption>
        <thead>
          <tr>
            <th scope="col">words</th>
            <th scope="col">tokens</th>
            {earlier ? <th scope="col">step {earlier.step}</th> : null}
            <th scope="col">step {step}</th>
          </tr>
        </thead>
        <tbody>
          {now.map(({ kind, label, tokens, mean }, i) => (
            <tr key={kind} data-kind={kind}>
              <th scope="row">{label}</th>
              <td>{formatCount(tokens)}</td>
              {then ? <td>{text(then[i].mean)}</td> : null}
              <td>{text(mean)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
