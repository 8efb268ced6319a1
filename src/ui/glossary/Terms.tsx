// Draws the glossary's terms in a text: each opens by a press, a tap or Enter.
import { useMemo, useState } from 'react'
import { Definition } from './Definition.tsx'
import { piecesOf } from './find_terms.ts'
import './glossary.css'

export interface TermsProps {
  readonly text: string
  /** The texts before it in the same list: a term that one of them offers is not offered again. */
  readonly after?: string
}

/** What no line begins with: a button is a box, behind which a browser breaks lines. */
const SIGNS = /^[，。；：！？、）”’,.;:!?)]+/

export function Terms({ text, after = '' }: TermsProps) {
  const pieces = useMemo(() => piecesOf(text, after), [text, after])
  return pieces.map(({ text: piece, term }, i) => {
    if (term === undefined) return i > 0 ? piece.replace(SIGNS, '') : piece
    const button = <TermButton key={term} id={term} text={piece} />
    const [signs = ''] = SIGNS.exec(pieces[i + 1]?.text ?? '') ?? []
    return signs === '' ? (
      button
    ) : (
      <span key={term} className="term-signs">
        {button}
        {signs}
      </span>
    )
  })
}

function TermButton({ id, text }: { readonly id: string; readonly text: string }) {
  // Where it was pressed: the definition lies beside it.
  const [button, setButton] = useState<HTMLButtonElement>()
  return (
    <>
      <button
        type="button"
        className="term"
        aria-haspopup="dialog"
        aria-expanded={button !== undefined}
        onClick={({ currentTarget }) => setButton(button ? undefined : currentTarget)}
      >
        {text}
      </button>
      {button ? (
        <Definition id={id} word={text} beside={button} onClose={() => setButton(undefined)} />
      ) : null}
    </>
  )
}
