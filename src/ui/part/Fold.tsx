// Draws a card that can be folded up to its heading: one of many in a long tab.
import './fold.css'
import { type ReactNode, useState } from 'react'

const isPhone = (): boolean => globalThis.matchMedia?.('(max-width: 899px)').matches ?? false

interface FoldProps {
  readonly id: string
  readonly title: string
  /** The step whose measurement it shows. */
  readonly step?: number | undefined
  /** It is open at first on a phone too, where a long tab is otherwise a list of headings. */
  readonly isFirst?: boolean
  readonly children: ReactNode
}

export function Fold({ id, title, step, isFirst = false, children }: FoldProps) {
  const [isOpen] = useState(() => isFirst || !isPhone())
  return (
    <details className="card figure" open={isOpen} data-testid={id} data-step={step}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  )
}
