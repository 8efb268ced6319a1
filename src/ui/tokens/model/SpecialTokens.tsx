// Shows the tokens that a tokenizer puts around a text, and the switch that leaves them out.
interface SpecialTokensProps {
  /** 'begins with <s>'; '' where it adds nothing, and then there is nothing to switch. */
  readonly words: string
  readonly is_on: boolean
  readonly testid: string
  onChange(is_on: boolean): void
}

export function SpecialTokens({ words, is_on, testid, onChange }: SpecialTokensProps) {
  if (words === '') return null
  return (
    <label className="model-check">
      <input
        type="checkbox"
        data-testid={testid}
        checked={is_on}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{words}, as in transformers (add_special_tokens)</span>
    </label>
  )
}
