// Asks which column is what: what a row holds decides which columns are asked for.
import { type DataPlan, ROW_FORMAT_CHOICES } from '../../page/client/data_file.ts'
import { Check, Choice } from './inputs.tsx'

export interface ColumnProps {
  /** What can be chosen as a column. */
  readonly keys: readonly string[]
  readonly plan: DataPlan
  readonly onPlan: (change: Partial<DataPlan>) => void
}

type Key =
  | 'prompt_key'
  | 'input_key'
  | 'system_key'
  | 'answer_key'
  | 'chosen_key'
  | 'rejected_key'
  | 'label_key'

/** A column that a format of rows has: its field, and what no column means; undefined where there
 * must be one. */
type Asked = readonly [key: Key, label: string, none?: string]

const INPUT: Asked = ['input_key', 'Input (joined to the prompt)', 'none']
const SYSTEM: Asked = ['system_key', 'System', 'none']

const asked = ({ row_format, prompt_key }: DataPlan): readonly Asked[] => {
  if (row_format === 'conversations') return [['prompt_key', 'Conversation'], SYSTEM]
  if (row_format === 'pairs')
    return [
      ['prompt_key', 'Prompt', 'what both conversations begin with'],
      ['chosen_key', 'Better answer'],
      ['rejected_key', 'Worse answer'],
      INPUT,
      SYSTEM,
    ]
  if (row_format === 'verdicts')
    return [
      ['prompt_key', 'Prompt'],
      ['answer_key', 'Answer', 'the end of the conversation'],
      ['label_key', 'Good or bad'],
      INPUT,
      SYSTEM,
    ]
  const prompt: Asked = ['prompt_key', 'Prompt', 'none: text to continue']
  return prompt_key === null
    ? [prompt, ['answer_key', 'Text']]
    : [prompt, ['answer_key', 'Right answer', 'none: prompts alone'], INPUT, SYSTEM]
}

export function ColumnFields({ keys, plan, onPlan }: ColumnProps) {
  const columns = keys.map((key) => [key, key] as const)
  return (
    <>
      <Choice
        label="A row is"
        id="data-row-format"
        value={plan.row_format}
        options={ROW_FORMAT_CHOICES}
        onValue={(row_format) => onPlan({ row_format })}
      />
      {asked(plan).map(([key, label, none]) => (
        <Choice
          key={key}
          label={label}
          id={`data-${key.replace('_', '-')}`}
          value={plan[key] ?? ''}
          options={none === undefined ? columns : [['', none], ...columns]}
          onValue={(value) => onPlan({ [key]: value === '' ? null : value })}
        />
      ))}
      {plan.input_key === null || plan.row_format === 'conversations' ? null : (
        <label>
          <span>Prompt template (\n is an end of line; an empty input is left out)</span>
          <input
            type="text"
            data-testid="data-prompt-template"
            value={plan.prompt_template}
            onChange={({ target }) => onPlan({ prompt_template: target.value })}
          />
        </label>
      )}
      {plan.row_format === 'conversations' ? (
        <Check
          label="Learn every answer of a conversation, not only the last"
          id="data-every-turn"
          value={plan.every_turn}
          onValue={(every_turn) => onPlan({ every_turn })}
        />
      ) : null}
    </>
  )
}
