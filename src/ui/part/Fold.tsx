// Draws a card that can be folded up to its heading and a sentence: one of many in a long tab.
import './fold.css'
import { type ReactNode, type SyntheticEvent, useState } from 'react'
import * as z from 'zod/mini'
import { remembered } from '../../page/state/remembered.ts'

/** A long tab is read there by its headings. */
export const isPhone = (): boolean => globalThis.matchMedia?.('(max-width: 899px)').matches ?? false

/** Which folds a person opened or closed, by their ids. */
const kept = remembered('folds', z.record(z.string(), z.boolean()), {})

/** Where a fold is open at first: on a phone too, where a long tab is otherwise a list of headings,
 * or where there is more room. */
export type Opens = 'everywhere' | 'wide'

interface FoldProps {
  readonly id: string
  readonly title: string
  /** A sentence below the title of a closed fold. */
  readonly about?: ReactNode
  /** The step whose measurement it shows. */
  readonly step?: number | undefined
  /** Without it, where a person opened it. */
  readonly opens?: Opens | undefined
  readonly children: ReactNode
}

const isOpenAtFirst = (id: string, opens: Opens | undefined): boolean =>
  isPhone() ? opens === 'everywhere' : (kept.get()[id] ?? opens !== undefined)

/** On a phone a visit begins with the headings, whatever was open before. */
function keep(id: string, opens: Opens | undefined, isOpen: boolean): void {
  if (!isPhone() && isOpen !== isOpenAtFirst(id, opens)) kept.set({ ...kept.get(), [id]: isOpen })
}

/** A text's first sentence. */
export const firstSentence = (text: string): string =>
  /^.*?(?:[.?!](?= |$)|[。？！])/.exec(text)?.[0] ?? text

export function Fold({ id, title, about, step, opens, children }: FoldProps) {
  const [isOpen] = useState(() => isOpenAtFirst(id, opens))
  const onToggle = ({ currentTarget, target }: SyntheticEvent<HTMLDetailsElement>) => {
    if (target === currentTarget) keep(id, opens, currentTarget.open)
  }
  return (
    <details
      className="card figure"
      open={isOpen}
      data-testid={id}
      data-step={step}
      onToggle={onToggle}
    >
      <summary>
        <h2>{title}</h2>
        {about === undefined ? null : <p className="fold-about soft">{about}</p>}
      </summary>
      {children}
    </details>
  )
}
