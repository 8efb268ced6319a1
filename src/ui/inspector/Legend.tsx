// What the colours of the tokens mean, with numbers.
import { SHADE_RULES } from '../shades.ts'
import type { Legend as Texts } from './colours.ts'

/** The classes of shades.ts, once on the page. */
export const Shades = () => (
  <style href="shades" precedence="default">
    {SHADE_RULES}
  </style>
)

export function Legend({ legend, testid }: { legend: Texts; testid: string }) {
  const { swatches, texts } = legend
  const is_named = swatches.length === texts.length
  return (
    <div className={`legend ${is_named ? 'named' : ''}`} data-testid={testid}>
      {is_named ? (
        swatches.map((shade, i) => (
          <span key={shade}>
            <i className={shade} aria-hidden="true" /> {texts[i]}
          </span>
        ))
      ) : (
        <>
          <span className="legend-ramp" aria-hidden="true">
            {swatches.map((shade) => (
              <i key={shade} className={shade} />
            ))}
          </span>
          <span className="legend-texts">
            {texts.map((text, i) => (
              <span key={i}>{text}</span>
            ))}
          </span>
        </>
      )}
    </div>
  )
}
