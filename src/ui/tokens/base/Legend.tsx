// Explains the colours of the tokens, with numbers.
import { useLayoutEffect } from 'react'
import { SHADE_RULES } from '../../scales/shades.ts'
import type { Legend as Texts } from './colours.ts'
import '../inspector/legend.css'

let isAdopted = false

/** The classes of shades.ts, once on the page; as a sheet of their own, for which no inline style
 * must be allowed. */
export function Shades() {
  useLayoutEffect(() => {
    if (isAdopted) return
    isAdopted = true
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(SHADE_RULES)
    document.adoptedStyleSheets.push(sheet)
  }, [])
  return null
}

export function Legend({ legend, testid }: { legend: Texts; testid: string }) {
  const { swatches, texts } = legend
  const isNamed = swatches.length === texts.length
  return (
    <div className={`colours ${isNamed ? 'named' : ''}`} data-testid={testid}>
      {isNamed ? (
        swatches.map((shade, i) => (
          <span key={shade}>
            <i className={shade} aria-hidden="true" /> {texts[i]}
          </span>
        ))
      ) : (
        <>
          <span className="colour-ramp" aria-hidden="true">
            {swatches.map((shade) => (
              <i key={shade} className={shade} />
            ))}
          </span>
          <span className="colour-texts">
            {texts.map((text, i) => (
              <span key={i}>{text}</span>
            ))}
          </span>
        </>
      )}
    </div>
  )
}
