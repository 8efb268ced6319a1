// Asks for columns, the tokenizer, the split and the longest rows.
import { BPE_SIZES, TOKENIZER_CHOICES } from '../../page/client/data_file.ts'
import { ColumnFields, type ColumnProps } from './ColumnFields.tsx'
import { Check, Choice, Count } from './inputs.tsx'

interface PlanProps extends ColumnProps {
  /** Held-out rows have a file of their own. */
  readonly hasVal: boolean
}

export function PlanFields(props: PlanProps) {
  const { plan, onPlan } = props
  const isText = plan.prompt_key === null && plan.row_format === 'answers'
  return (
    <div className="data-fields">
      <ColumnFields {...props} />
      <Tokens {...props} />
      <Split {...props} />
      {isText ? null : (
        <Count
          label="Longest prompt (tokens)"
          id="data-max-prompt"
          value={plan.max_prompt_length}
          placeholder="all"
          onValue={(max_prompt_length) => onPlan({ max_prompt_length })}
        />
      )}
      <Count
        label={isText ? 'Tokens of a row' : 'Longest answer (tokens)'}
        id="data-max-response"
        value={plan.max_response_length}
        placeholder={isText ? '64' : 'all'}
        onValue={(max_response_length) => onPlan({ max_response_length })}
      />
      <Check
        label="Leave out rows that cannot be used; otherwise they are refused"
        id="data-skip-bad"
        value={plan.skip_bad_rows}
        onValue={(skip_bad_rows) => onPlan({ skip_bad_rows })}
      />
      {isText ? null : (
        <Check
          label="Drop rows that are longer; otherwise they are refused"
          id="data-filter"
          value={plan.filter_overlong_prompts}
          onValue={(filter_overlong_prompts) => onPlan({ filter_overlong_prompts })}
        />
      )}
    </div>
  )
}

function Tokens({ plan, onPlan }: PlanProps) {
  return (
    <>
      <Choice
        label="Tokenizer"
        id="data-tokenizer"
        value={plan.tokenizer}
        options={TOKENIZER_CHOICES}
        onValue={(tokenizer) => onPlan({ tokenizer, vocab_size: null })}
      />
      {plan.tokenizer === 'bpe' ? (
        <Count
          label={`Tokens of it (${BPE_SIZES.join(' to ')})`}
          id="data-vocab-size"
          value={plan.vocab_size}
          placeholder="512"
          onValue={(vocab_size) => onPlan({ vocab_size })}
        />
      ) : null}
    </>
  )
}

function Split({ plan, hasVal, onPlan }: PlanProps) {
  if (hasVal) return null
  return (
    <>
      <Count
        label="Held-out rows"
        id="data-test-size"
        value={plan.test_size}
        placeholder="a fifth"
        onValue={(test_size) => onPlan({ test_size })}
      />
      {plan.prompt_key === null ? null : (
        <Count
          label="Split seed"
          id="data-split-seed"
          value={plan.split_seed || null}
          onValue={(splitSeed) => onPlan({ split_seed: splitSeed ?? 0 })}
        />
      )}
    </>
  )
}
