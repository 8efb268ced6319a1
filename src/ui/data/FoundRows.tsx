// Shows the rows of a file: how many, how long, which occur twice, and what a person should know
// before training.
import {
  type DataPlan,
  type Found,
  lengthsShown,
  type Prepared,
} from '../../page/client/data_file.ts'

const count = (n: number, one: string, many = `${one}s`) =>
  `${n.toLocaleString('en-GB')} ${n === 1 ? one : many}`

/** A sentence for each thing that is not as one might expect. */
function remarksOf({ duplicates, ambiguous, dropped, shared, bad, notes }: Found): string[] {
  return [
    ...notes,
    ...(bad.count > 0
      ? [
          `${count(bad.count, 'row')} left out, because they cannot be used: ${bad.first.join('; ')}${bad.count > bad.first.length ? ' …' : ''}`,
        ]
      : []),
    ...(duplicates > 0
      ? [`${count(duplicates, 'row')} occurred before, with the same answer.`]
      : []),
    ...(ambiguous > 0
      ? [`${count(ambiguous, 'prompt')} with several answers: each of them counts as right.`]
      : []),
    ...(dropped > 0 ? [`${count(dropped, 'row')} dropped, because too long.`] : []),
    ...(shared > 0
      ? [`${count(shared, 'held-out prompt')} of the other file also in training.`]
      : []),
  ]
}

export function FoundRows(props: { readonly prepared: Prepared; readonly plan: DataPlan }) {
  const { train, test, tokenizer, found } = props.prepared
  const isText = props.plan.prompt_key === null && props.plan.row_format === 'answers'
  return (
    <section aria-label="What was found" className="data-found" data-testid="data-found">
      <p>
        {count(train.length, 'row')} to train on, {count(test.length, 'row')} held out;{' '}
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
                <title>{`${range} tokens: ${count(rows, 'row')}`}</title>
              </rect>
            )
          })}
        </svg>
      )}
    </figure>
  )
}
