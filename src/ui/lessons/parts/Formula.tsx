// Draws a formula, typeset as MathML by temml, which is loaded with the first one.
import { useEffect, useRef, useState } from 'react'

interface FormulaProps {
  readonly tex: string
  readonly inline?: boolean
}

/** One formula; where it cannot be set, or the typesetter does not come, the TeX itself can be
 * read. */
function Typeset({ tex, inline = false }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null)
  const [isRead, setRead] = useState(false)
  useEffect(() => {
    let isHere = true
    import('temml')
      .then(({ default: temml }) => {
        // Nodes and not markup: the page's policy forbids styles in markup. Not in their place:
        // it would be emptied for what cannot be set.
        const set = document.createElement('span')
        temml.render(tex, set, { displayMode: !inline, throwOnError: true })
        if (isHere) place.current?.replaceChildren(...set.childNodes)
      })
      .catch(() => {
        if (isHere) setRead(true)
      })
    return () => {
      isHere = false
    }
  }, [tex, inline])
  return (
    <span ref={place} className="typeset">
      {/* Its room until it is typeset. */}
      <code data-awaits={!isRead}>{tex}</code>
    </span>
  )
}

/** A display may hold several with `\qquad` between them: they are set side by side where there is
 * room. */
export function Formula({ tex, inline = false }: FormulaProps) {
  if (inline) return <Typeset tex={tex} inline />
  return (
    <span className="display-formula">
      {tex.split('\\qquad').map((part) => (
        <Typeset key={part} tex={part.trim()} />
      ))}
    </span>
  )
}
