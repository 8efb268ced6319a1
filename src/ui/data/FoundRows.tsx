// Shows the rows of a file: how many, how long, which occur twice, and what a person should know
// before training.
import {
  type DataPlan,
  type Found,
  lengthsShown,
  type Prepared,
} from '../../page/client/data_file.ts'

const shown = (n: number) => n.toLocaleString('en-GB')
// Each is written out: what counts a thing differs from language to language.
const rowsText = (n: number) => `${shown(n)} ${n === 1 ? 'row' : 'rows'}`
const promptsText = (n: number) => `${shown(n)} ${n === 1 ? 'prompt' : 'prompts'}`
const heldOutText = (n: number) => `${shown(n)} held-out ${n === 1 ? 'prompt' : 'prompts'}`

/** A sentence for each thing that is not as one might expect. */
function remarksOf({ duplicates, ambiguous, dropped, shared, bad, notes }: Found): string[] {
  return [
    ...notes,
    ...(bad.count > 0
      ? [
          `${rowsText(bad.count)} left out, because they cannot be used: ${bad.first.join('; ')}${bad.count > bad.first.length ? ' …' : ''}`,
        ]
      : []),
    ...(duplicates > 0 ? [`${rowsText(duplicates)} occurred before, with the same answer.`] : []),
    ...(ambiguous > 0
      ? [`${promptsText(ambiguous)} with several answers: each of them counts as right.`]
      : []),
    ...(dropped > 0 ? [`${rowsText(dropped)} dropped, because too long.`] : []),
    ...(shared > 0 ? [`${heldOutText(shared)} of the other file also in training.`] : []),
  ]
}

export function FoundRows(props: { readonly prepared: Prepared; readonly plan: DataPlan }) {
  const { train, test, tokenizer, found } = props.prepared
  const isText = props.plan.prompt_key === null && props.plan.row_format === 'answers'
  return (
    <section aria-label="What was found" className="data-found" data-testid="data-found">
      <p>
        {rowsText(train.length)} to train on, {rowsText(test.length)} held out;{' '}
        {tokenizer.vocab_size} tokens in the vocabulary.
      </p>
      {remarksOf(found).map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      <div className="data-lengths">
        {isText ? null : <Lengths name="Prompts" lengths={found.prompt_lengths} />}
        {found.answer_lengths.length === 0 ? null : (
          <Lengths name={isText ? 'Rows' : 'Answers'} lengths={found.answer_lengths} />
        )}
      </div>
    </section>
  )
}

const WIDTH = 240
const HEIGHT = 60

/** A bar for each range of lengths, in tokens. */
function Lengths({
  name,
  lengths,
}: {
  readonly name: string
  readonly lengths: readonly number[]
}) {
  const { bins, words } = lengthsShown(name, lengths)
  const highest = bins.reduce((most, bin) => Math.max(most, bin.count), 1)
  const width = WIDTH / Math.max(1, bins.length)
  return (
    <figure data-testid={`lengths-${name.toLowerCase()}`}>
      <figcaption>{words}</figcaption>
      {/* Rows of one length are said. */}
      {bins.length < 2 ? null : (
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={`Histogram. ${words}`}
          preserveAspectRatio="none"
        >
          {bins.map(({ from, to, count: rows }, i) => {
            const height = rows === 0 ? 0 : Math.max(2, (HEIGHT * rows) / highest)
            const range = from === to ? from : `${from} to ${to}`
            return (
              <rect
                key={from}
                x={i * width + 0.5}
                y={HEIGHT - height}
                width={width - 1}
                height={height}
              >
                <title>{`${range} tokens: ${rowsText(rows)}`}</title>
              </rect>
            )
          })}
        </svg>
      )}
    </figure>
  )
}
