// Shows the tokens that a tokenizer puts around a text, and the switch that leaves them out.
interface SpecialTokensProps {
  /** 'begins with <s>'; '' where it adds nothing, and then there is nothing to switch. */
  readonly words: string
  readonly isOn: boolean
  onChange(isOn: boolean): void
}

export function SpecialTokens({ words, isOn, onChange }: SpecialTokensProps) {
  if (words === '') return null
  return (
    <label className="model-check">
      <input
        type="checkbox"
        data-testid="chat-special"
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{words}, as in transformers (add_special_tokens)</span>
    </label>
  )
}
