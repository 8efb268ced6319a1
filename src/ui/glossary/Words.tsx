// Draws a text of the page in which the glossary's terms can be opened. The glossary comes after
// the page: until then, and where it does not come, the text stands alone.
import { type ComponentType, lazy, Suspense } from 'react'
import type { TermsProps } from './Terms.tsx'

const Alone = ({ text }: TermsProps) => text

const Terms = lazy(async (): Promise<{ default: ComponentType<TermsProps> }> => {
  try {
    return { default: (await import('./Terms.tsx')).Terms }
  } catch {
    return { default: Alone }
  }
})

export function Words(props: TermsProps) {
  return (
    <Suspense fallback={props.text}>
      <Terms {...props} />
    </Suspense>
  )
}
