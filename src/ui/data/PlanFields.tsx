// Which column is what, the tokenizer, the split and the longest rows.
import { BPE_SIZES, type DataPlan, TOKENIZER_CHOICES } from '../../lab/page/contents/data_file.ts'

interface PlanProps {
  /** What can be chosen as a column. */
  readonly keys: readonly string[]
  readonly plan: DataPlan
  /** Held-out rows have a file of their own. */
  readonly has_val: boolean
  readonly onPlan: (change: Partial<DataPlan>) => void
}

export function PlanFields(props: PlanProps) {
  const { plan, onPlan } = props
  const is_text = plan.prompt_key === ''
  return (
    <div className="data-fields">
      <Columns {...props} />
      <Split {...props} />
      {is_text ? null : (
        <Count
          label="Longest prompt (tokens)"
          id="data-max-prompt"
          value={plan.max_prompt_length}
          empty={0}
          placeholder="all"
          onValue={(max_prompt_length) => onPlan({ max_prompt_length })}
        />
      )}
      <Count
        label={is_text ? 'Tokens of a row' : 'Longest answer (tokens)'}
        id="data-max-response"
        value={plan.max_response_length}
        empty={0}
        placeholder={is_text ? '64' : 'all'}
        onValue={(max_response_length) => onPlan({ max_response_length })}
      />
      <label className="data-check">
        <input
          type="checkbox"
          data-testid="data-skip-bad"
          checked={plan.skip_bad_rows}
          onChange={({ target }) => onPlan({ skip_bad_rows: target.checked })}
        />
        <span>Leave out rows that cannot be used; otherwise they are refused</span>
      </label>
      {is_text ? null : (
        <label className="data-check">
          <input
            type="checkbox"
            data-testid="data-filter"
            checked={plan.filter_overlong_prompts}
            onChange={({ target }) => onPlan({ filter_overlong_prompts: target.checked })}
          />
          <span>Drop rows that are longer; otherwise they are refused</span>
        </label>
      )}
    </div>
  )
}

function Columns({ keys, plan, onPlan }: PlanProps) {
  const columns = keys.map((key) => [key, key] as const)
  return (
    <>
      <Choice
        label="Prompt"
        id="data-prompt-key"
        value={plan.prompt_key}
        options={[['', 'none: text to continue'], ...columns]}
        onValue={(prompt_key) => onPlan({ prompt_key })}
      />
      <Choice
        label={plan.prompt_key === '' ? 'Text' : 'Right answer'}
        id="data-answer-key"
        value={plan.answer_key}
        options={columns}
        onValue={(answer_key) => onPlan({ answer_key })}
      />
      <Choice
        label="Tokenizer"
        id="data-tokenizer"
        value={plan.tokenizer}
        options={TOKENIZER_CHOICES}
        onValue={(tokenizer) => onPlan({ tokenizer, vocab_size: 0 })}
      />
      {plan.tokenizer === 'bpe' ? (
        <Count
          label={`Tokens of it (${BPE_SIZES.join(' to ')})`}
          id="data-vocab-size"
          value={plan.vocab_size}
          empty={0}
          placeholder="512"
          onValue={(vocab_size) => onPlan({ vocab_size })}
        />
      ) : null}
    </>
  )
}

function Split({ plan, has_val, onPlan }: PlanProps) {
  if (has_val) return null
  return (
    <>
      <Count
        label="Held-out rows"
        id="data-test-size"
        value={plan.test_size}
        empty={-1}
        placeholder="a fifth"
        onValue={(test_size) => onPlan({ test_size })}
      />
      {plan.prompt_key === '' ? null : (
        <Count
          label="Split seed"
          id="data-split-seed"
          value={plan.split_seed}
          empty={0}
          onValue={(split_seed) => onPlan({ split_seed })}
        />
      )}
    </>
  )
}

function Choice<T extends string>(props: {
  readonly label: string
  readonly id: string
  readonly value: T
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly onValue: (value: T) => void
}) {
  const { label, id, value, options, onValue } = props
  return (
    <label>
      <span>{label}</span>
      <select data-testid={id} value={value} onChange={({ target }) => onValue(target.value as T)}>
        {options.some(([own]) => own === value) ? null : <option value={value}>choose …</option>}
        {options.map(([own, name]) => (
          <option key={own} value={own}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A whole number from 0; `empty` stands for what the placeholder says. */
function Count(props: {
  readonly label: string
  readonly id: string
  readonly value: number
  readonly empty: number
  readonly placeholder?: string
  readonly onValue: (value: number) => void
}) {
  const { label, id, value, empty, placeholder = '0', onValue } = props
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={0}
        step={1}
        data-testid={id}
        placeholder={placeholder}
        value={value === empty ? '' : value}
        onChange={({ target }) => {
          const given = target.value === '' ? empty : Math.trunc(Number(target.value))
          if (given === empty || given >= 0) onValue(given)
        }}
      />
    </label>
  )
}
