// A formula, typeset as MathML by temml, which is loaded with the first one.
import { useEffect, useRef } from 'react'

/** TeX as MathML; where the typesetter does not come, the TeX itself is readable. */
export function Formula({
  tex,
  inline = false,
}: {
  readonly tex: string
  readonly inline?: boolean
}) {
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    let is_here = true
    import('temml').then(
      ({ default: temml }) => {
        // Nodes and not markup: the page's policy forbids styles in markup.
        if (is_here && place.current)
          temml.render(tex, place.current, { displayMode: !inline, throwOnError: true })
      },
      () => {},
    )
    return () => {
      is_here = false
    }
  }, [tex, inline])
  return (
    <span ref={place} className={inline ? 'formula' : 'formula display'}>
      <code>{tex}</code>
    </span>
  )
}
