// A text of the page in which the glossary's terms can be opened: by a press, a tap or Enter.
import { useState } from 'react'
import { Definition } from './Definition.tsx'
import { piecesOf } from './find_terms.ts'
import './glossary.css'

export function Words({ text }: { readonly text: string }) {
  return piecesOf(text).map(({ text: piece, term }) =>
    term === undefined ? piece : <TermButton key={term} id={term} text={piece} />,
  )
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
      {button ? <Definition id={id} beside={button} onClose={() => setButton(undefined)} /> : null}
    </>
  )
}
