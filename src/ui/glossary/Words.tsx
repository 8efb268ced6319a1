// Draws a text of the page in which the glossary's terms can be opened. The glossary comes after
// the page: until then, and where it does not come, the text stands alone.
import { type ComponentType, lazy, Suspense } from 'react'
import { t } from '../kit/translator.ts'
import type { TermsProps } from './Terms.tsx'

const Alone = ({ text }: TermsProps) => text

const Terms = lazy(async (): Promise<{ default: ComponentType<TermsProps> }> => {
  try {
    return { default: (await import('./Terms.tsx')).Terms }
  } catch {
    return { default: Alone }
  }
})

/** `after` is in the page's language already. */
export function Words({ text, after = '' }: TermsProps) {
  const said = t(text)
  return (
    <Suspense fallback={said}>
      <Terms text={said} after={after} />
    </Suspense>
  )
}
